"""The interpreter's state of a program: abstract values, objects and their contents, the run and its frames."""
