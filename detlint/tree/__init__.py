"""The syntax tree that rules read: its nodes, its scopes, and the conversion of offsets to lines and columns."""
