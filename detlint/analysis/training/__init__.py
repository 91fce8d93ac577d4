"""What can be told of a model in one file: what trains it, evaluates it, takes its gradients."""
