"""Making a program repeat: run it twice, name the first difference, apply the fix that belongs to it, and run again.

tree            a copy of the user's files to run and to change, restored before each run
project         what the static analysis finds there, and fixes applied to its texts
measured        fixes made from what was measured at a line, if no finding has one
candidates      the fixes that may end a difference, the likeliest first
trial           pairs of runs, and whether they get further than others
rounds          all of this repeatedly; what was changed, what remains and why
report          the result as text and JSON
"""
