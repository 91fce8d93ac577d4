"""What the interpreter knows of values, of what programs do to generators, and of the states they leave these in."""
