"""Record all that detlint says of real code and of the project's own programs, and compare two such records.

A rewrite may change answers, but none unseen: each difference between a record of before and one of after has a
verdict and a reason in `reasons.toml`, and what was right and is lost blocks.

- `asking.py` asks detlint about a folder, in a process of its own or in this one, and says what that took
- `records.py` is the form of a record: a file for each repository, equal on all machines; what it cost lies apart
- `corpus.py` records a folder of repositories, `totals.py` counts those whose files nobody may read
- `programs.py` records the project's own programs, `collecting.py` has pytest hand over what tests give to detlint
- `differences.py` finds what two records differ in, `reasons.py` reads what is said of that, `report.py` prints both
- `__main__.py` is the command line
"""
