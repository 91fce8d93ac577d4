"""A file, lowered: from its text to the intermediate representation and to where its nodes stand."""

from __future__ import annotations

from detlint import reading
from detlint.ir import nodes as ir
from detlint.ir.counting import counts
from detlint.ir.lower_statements import Statements
from detlint.ir.places import Places


def lower(text: str, path: str, package: str = "") -> tuple[ir.File, Places]:
    """Lower a file. `path` is what others know it by, `package` the dotted package it is in.

    Raises NotPythonError.
    """
    read = reading.read(text, package)
    lowered = Statements()
    lowered.top(read.file)
    spans = {name: [read.spans.of(node) for node in numbered] for name, numbered in lowered.numbered.items()}
    functions = {name: read.spans.of(node) for name, node in lowered.defined.items()}
    binds = tuple(sorted(read.file.scope.bindings))
    stars = tuple(dict.fromkeys(lowered.stars))
    return ir.File(path, lowered.functions, lowered.classes, binds, counts(lowered.functions.values()), stars), Places(
        text, spans, functions
    )
