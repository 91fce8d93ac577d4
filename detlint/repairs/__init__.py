"""Fixes that need more than the node that a finding is about."""
