"""The keys with which a configuration says what Hydra makes from it, and how."""

TARGET, PARTIAL, RECURSIVE, POSITIONAL = "_target_", "_partial_", "_recursive_", "_args_"
