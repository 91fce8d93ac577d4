"""General-purpose utilities: records, digests, processes, and texts and pages that are safe to show."""
