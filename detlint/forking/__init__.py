"""Processes forked from one that has imported torch: torch is imported once for all of them.

origin      the process that forks, started and asked from outside; a fork as `subprocess.Popen` would be
serving     what goes on in it: a fork for each job that a socket brings
"""
