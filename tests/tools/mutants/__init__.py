"""What the authors of real code did right, undone one place at a time, and whether detlint names it.

`python -m tests.tools.mutants --help`
"""
