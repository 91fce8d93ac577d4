"""Input texts: files and cells, what their comments say, and which file an import loads."""
