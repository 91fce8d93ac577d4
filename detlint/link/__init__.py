"""The linked facts of all files: an abstract interpreter that follows each entry point without running the code."""
