"""Memory that is allocated and not filled, followed to what reads it."""
