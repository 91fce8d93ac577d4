"""The user's own Triton kernels, run by Triton's interpreter: only on request, in a separate process.

The interpreter runs the programs of a launch one after another, each to its end; here they run in other orders.

    running     a process for each file; what it reports of the kernels that contain given lines
    child       that process: it imports the file, calls a function of it, and records each launch's tensors
    calls       which functions of a file can be called without arguments, and lead to a kernel
"""
