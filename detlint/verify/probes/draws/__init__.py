"""Probes of operations that draw from global generators."""
