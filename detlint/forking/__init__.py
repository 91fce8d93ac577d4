"""Processes forked from one that has imported torch, so that torch is imported once for all of them.

origin      the process that forks, as started and queried from outside; its forks, in the style of `subprocess.Popen`
serving     the code inside that process: a fork for each job that arrives on a socket
"""
