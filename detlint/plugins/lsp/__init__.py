"""The language server: findings and fixes in an editor, as one types. Only this part imports pygls."""
