"""Orders that are not fixed: of listings, sets and finished tasks, followed to where they matter."""
