"""Flows: what differs between runs, from where it comes from to where it matters."""
