"""What functions of libraries do to values: a function for each role that a row of the tables may name."""
