"""Arbitrary orders of listings, sets and finished tasks, followed to where they matter."""
