"""Programs of a project: what their functions may be given, and the states that they leave generators in."""
