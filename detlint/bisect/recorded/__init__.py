"""One process recorded: its operations, draws, batches, threads and losses, written as records."""
