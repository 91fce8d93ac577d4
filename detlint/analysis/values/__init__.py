"""What one file shows about a value: a tensor, an argument, an option, a number."""
