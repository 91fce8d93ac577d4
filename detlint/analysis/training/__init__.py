"""What one file shows about a model: what trains it, evaluates it, and takes its gradients."""
