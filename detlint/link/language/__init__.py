"""The semantics of the language: expressions, statements, calls and classes, evaluated on abstract values."""
