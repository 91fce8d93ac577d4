"""What names and texts around a call say about intended noise."""

from __future__ import annotations

import re

from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.tree import syntax as s

MEANT = re.compile(r"(\b|_)[mM][cC](\b|_|[A-Z])|(?i:monte|bayes|uncertain|stochastic|epistemic|ensembl|always)")


def comments(module: Module, node: s.Node) -> str:
    """Return the comments on the lines of a node, and on lines of their own right above it."""
    lines = _lines(module)
    start, end = (module.text.count("\n", 0, offset) for offset in module.span(node))
    found = [line.partition("#")[2] for line in lines[start : end + 1]]
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
        found.append(lines[start])
    return "\n".join(found)


@asked_once
def _lines(module: Module) -> list[str]:
    return module.text.splitlines()
