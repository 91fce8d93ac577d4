"""A file, lowered: from its text to the intermediate representation and to where its nodes stand."""

from __future__ import annotations

from collections.abc import Sequence

from detlint import reading
from detlint.ir import nodes as ir
from detlint.ir.counting import counts
from detlint.ir.lower_statements import Statements
from detlint.ir.places import Places
from detlint.tree.positions import Origin


def lower(text: str, path: str, package: str = "", origins: Sequence[Origin] = ()) -> tuple[ir.File, Places]:
    """Lower a file. `path` is what others know it by, `package` the dotted package it is in.

    `origins` say for each line of a notebook's text, which is put together from its cells, where it stands there.
    Raises NotPythonError.
    """
    read = reading.read(text, package)
    lowered = Statements()
    lowered.top(read.file)
    spans = {name: [read.spans.of(node) for node in numbered] for name, numbered in lowered.numbered.items()}
    functions = {name: read.spans.of(node) for name, node in lowered.defined.items()}
    binds = tuple(sorted(read.file.scope.bindings))
    stars = tuple(dict.fromkeys(lowered.stars))
    counted = counts(lowered.functions.values())
    file = ir.File(path, lowered.functions, lowered.classes, binds, counted, stars)
    return file, Places(text, spans, functions, origins)
