"""Probes of tensor functions."""
