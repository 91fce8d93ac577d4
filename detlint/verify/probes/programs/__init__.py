"""Probes of what surrounds the operations of a program: its memory, data, streams, compilers and orders."""
