"""What checks share: what can be told of tensors, memory, generators, contexts and arguments from the model."""
