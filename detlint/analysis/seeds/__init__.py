"""Generators and their seeds: what makes them, and what differs from run to run or from rank to rank."""
