"""The tree that rules read: its nodes, its scopes, and offsets in a text as lines and columns."""
