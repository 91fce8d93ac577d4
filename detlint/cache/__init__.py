"""Results of earlier runs, kept by content, and what those runs looked at."""
