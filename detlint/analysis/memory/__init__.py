"""Memory that is allocated but not filled, followed to its reads."""
