"""Probes of functions of tensors."""
