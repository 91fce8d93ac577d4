"""Calls of libraries: their rows found, what they draw and seed, their loaders, samplers and processes."""
