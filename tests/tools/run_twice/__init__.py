"""Measure detlint on real programs that run: what two runs of each differ in, and what detlint says of it.

A recipe (`open*.toml`, `counted*.toml`) names a script of a public repository and what makes it small. The script runs
twice in fresh processes, from the same folder, with hash randomisation on and listings of folders in an order of each
run's own, as they have on another disk. Then the bits of its parameters, of what it saved and of its output are compared.

- `recipes.py` reads the recipes; `data/` makes the small data that they name
- `running.py` runs a program and keeps what came of it; `child/` is the part of it within the program's processes
- `comparing.py` says in which kinds two runs differ
- `measuring.py` puts these together to a row of the results
- `standing.py` asks detlint: the findings of a repository, `detlint bisect` where runs differ
- `totals.py` counts rows, and says them in lines
- `__main__.py` is the command line
"""
