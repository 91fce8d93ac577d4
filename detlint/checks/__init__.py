"""The functions that rules name, one per file: `check(module, rule)`, or `check(project, rule)` over the project."""
