"""Probes of network layers and losses."""
