"""Programs run twice: in fresh processes, or in forks of one that has imported torch."""
