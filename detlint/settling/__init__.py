"""Findings settled by what the linked project says about them."""
