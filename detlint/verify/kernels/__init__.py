"""Triton kernels of the user's own, run by Triton's interpreter: on request alone, in a process of their own.

The interpreter runs the programs of a launch one after the other, each to its end; here they are taken in other orders.

    running     a process for each file; what it says of the kernels that lines belong to
    child       that process: the file imported, a function of it called, what each launch makes of its tensors
    calls       which functions of a file can be called without arguments, and lead to a kernel
"""
