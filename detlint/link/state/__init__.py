"""What the interpreter keeps of a program: abstract values, objects and what they hold, the run and its frames."""
