"""What of a report is shown: not what was there before, and what came with a change."""
