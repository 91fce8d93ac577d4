"""The abstract interpreter: what the values, effects and flows of a project's functions are."""
