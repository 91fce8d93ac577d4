"""Probes of layers of networks, and of losses."""
