"""Which part of a report is shown: without what was there before, or only what came with a change."""
