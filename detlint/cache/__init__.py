"""What earlier runs found, kept by content, and what they looked at."""
