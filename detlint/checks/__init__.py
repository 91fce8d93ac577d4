"""The functions that rules name, one a file: `check(module, rule)`, or `check(project, rule)` over the project."""
