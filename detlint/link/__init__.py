"""The facts of all files, linked: an abstract interpreter that runs each entry point without running the code."""
