"""Probes of packages beside torch."""
