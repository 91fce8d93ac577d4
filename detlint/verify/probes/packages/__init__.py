"""Probes of packages other than torch."""
