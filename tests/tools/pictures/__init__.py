"""Pictures of the documentation, and the measurements that they show: `python -m tests.tools.pictures`."""
