"""What checks share: what the model shows about tensors, memory, generators, contexts and arguments."""
