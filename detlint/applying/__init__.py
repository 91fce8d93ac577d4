"""The choice of fixes, their application to texts until nothing changes, and their output as files or a patch."""
