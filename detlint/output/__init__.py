"""Output formats: each module has `render(report, ...) -> str`; none knows a rule's code."""
