"""The verifier: operations run on a device, again and again, and the bits of their results compared.

Nothing here imports libcst or the terminal library, and torch is imported inside functions only: a machine that has a
GPU and little else can run the whole catalogue. Nothing of the user's code is ever imported or run.
"""
