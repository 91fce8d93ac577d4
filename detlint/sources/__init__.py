"""Texts in: files and cells, what their comments say, and which file an import loads."""
