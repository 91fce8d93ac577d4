"""Following programs: where they start, in which groups, and what is kept of them between runs."""
