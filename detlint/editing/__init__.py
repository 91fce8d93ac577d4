"""What fixes are made of: edits of a syntax, imports that they need, and the functions that they insert."""
