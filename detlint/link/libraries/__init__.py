"""Calls of libraries: lookups of their rows, draws and seeds, loaders, samplers and processes."""
