"""The form in which the interpreter reads a file: a small structured language without positions."""
