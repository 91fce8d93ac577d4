"""What any program could use: records, digests, processes, texts and pages that are safe to show."""
