"""Programs followed: where they start, in which groups, and what is kept of them from run to run."""
