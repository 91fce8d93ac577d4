"""What is told of programs: the events of their runs, and the entry points that these make."""
