"""What sets and hashes hold, and what decides their order."""
