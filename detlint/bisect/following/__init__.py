"""The statements of the user's code, followed as they run: what each reads and binds."""
