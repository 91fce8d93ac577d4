"""The linked project: its entry points, its programs, and answers to the open questions of findings."""
