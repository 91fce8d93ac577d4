"""A program made to repeat: run twice, the first difference named, the fix that belongs to it applied, and run again.

tree            a copy of the user's files to run and to change, put back before each run
project         what the static analysis finds there, and fixes applied to its texts
measured        fixes made from what was measured at a line, where no finding has one
candidates      which fixes may end a difference, the likeliest first
trial           two runs, and whether they get further than two others
rounds          all of it again and again; what was changed, what remains and why
report          text, JSON
"""
