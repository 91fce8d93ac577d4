"""Probes of what draws from global generators."""
