"""Training programs that do not repeat, a page each; what they read; a server that runs them."""
