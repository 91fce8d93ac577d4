"""What fixes are made of: edits of syntax, the imports that these need, and the functions that they insert."""
