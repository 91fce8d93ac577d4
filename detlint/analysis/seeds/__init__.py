"""Generators and their seeds: what gives one, what differs from run to run or from rank to rank."""
