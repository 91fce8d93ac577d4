"""What can be told of a value in one file: a tensor, an argument, an option, a number."""
