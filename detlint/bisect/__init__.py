"""Two runs of a program recorded, aligned, and the first operation that differs named, with its cause."""
