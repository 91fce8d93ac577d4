"""Findings settled by what the linked project says of them."""
