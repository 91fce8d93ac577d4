"""detlint and its peers timed on the same trees in one run: `python -m tests.benchmarks --help`."""
