"""The effects of library functions on values: a function for each role that a row of the tables may name."""
