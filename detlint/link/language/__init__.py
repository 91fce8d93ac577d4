"""What the language does: expressions, statements, calls and classes, evaluated on abstract values."""
