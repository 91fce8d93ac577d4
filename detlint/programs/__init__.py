"""Facts about programs: the events of their runs, and the entry points made from these."""
