"""What sets and hashes hold, and what decides the order of these."""
