"""The pytest plugin: `plugin.py` is what pytest loads."""
