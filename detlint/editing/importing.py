"""Where a fix's imports go in a file: merged, sorted and spaced as isort and ruff's `I` do by default."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise, takewhile
from pathlib import Path

from detlint import catalogue, reading
from detlint.editing.import_order import FIRST_PARTY, Key, section, statement_key
from detlint.finding import Edit, Import, Place
from detlint.sources import notebook
from detlint.sources.magics import LINES
from detlint.sources.source import module_name
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.positions import Lines

WIDTH = 88  # of isort's profile "black", and of ruff
_BETWEEN = re.compile(r"(?:[\s;\\]|#[^\r\n]*)*")  # what may be between the imports of one block
_DEFINITION = re.compile(r"(?:async[ \t]+)?def\b|class\b|@")
_COMMENT = re.compile(r"[ \t\f]*#[^\r\n]*")


class NoPlaceError(Exception):
    """An import cannot be added; the message says why."""


@record(frozen=True)
class _Statement:
    """A top-level import, from offset `start` to `end` and from line `first` to `last` of the joined text."""

    node: s.Import
    start: int
    end: int
    first: int
    last: int
    cell: int | None
    section: int
    key: Key


class Head:
    """The imports of a file. Those in functions, `if` and `try` stay as they are and never get a neighbour."""

    def __init__(self, path: str, text: str, first_party: Collection[str] = (), width: int = WIDTH) -> None:
        """Take the top-level names of the project as `first_party`. Raises UnreadableError and NotPythonError."""
        document = notebook.read(path, text)
        self.path = path
        self._text = document.text
        self._lines = Lines(document.text, document.origins)
        self._rows = LINES.findall(document.text)
        self._own = _unmasked(document, self._rows)
        read = reading.read(document.text)
        self._file, self._spans = read.file, read.spans
        own, _, inner = module_name(Path(path)).partition(".")
        self._first_party = frozenset(first_party) | ({own} if inner else set())
        self._statements = list(self._find())
        lengths = [self._lines.position(x.end)[1] - 1 for x in self._statements if x.first == x.last]
        self._width = max(width, *lengths, 0)  # a file with longer lines has a wider limit

    def taken(self, need: Import, uses: Sequence[Place]) -> bool:
        """Return whether the name that `need` binds means something else in the file, or at its `uses`."""
        name = need.bound
        lines = [line for line in (self._line(place) for place in uses) if line is not None]
        scopes = [self._file.scope]
        for node in self._file.nodes:
            if isinstance(node, (s.Function, s.Class)):
                first, last = (self._lines.position(offset)[0] for offset in self._spans.of(node))
                if any(first <= line <= last for line in lines):
                    scopes.append(node.scope)
            elif isinstance(node, s.Name) and node.id == name and node.scope.find(name) is None:
                return True  # a builtin, or from `import *`
        bindings = [binding for scope in scopes for binding in scope.bindings.get(name, ())]
        return not all(isinstance(b.node, s.Import) and _binds(b.node, need) for b in bindings)

    def edits(self, need: Import, before: Place | None = None) -> tuple[Edit, ...]:
        """Return edits that import `need` ahead of `before`, its first use. Raises NoPlaceError."""
        limit = len(self._rows) + 1 if before is None else self._line(before)
        if limit is None:
            raise NoPlaceError("the place that needs it is not read")
        statements = [x for x in self._statements if x.last < limit]
        if any(_has(x.node, need) for x in statements):
            return ()
        for statement in statements:
            if need.name is not None and _takes_names(statement.node, need.module):
                return (self._merge(statement, need.name),)
        if not statements:
            return (self._at_head(need, limit),)
        ahead = [x for x in statements if x.start < self._code] or statements
        # next to imports of the same package, since a line above them may say where to find it
        root = need.module.partition(".")[0]
        own = section(need.module, self._first_party)
        beside = [x for x in statements if own == FIRST_PARTY and _module(x.node).partition(".")[0] == root]
        return (self._in_block(need, self._block(beside or ahead, own)),)

    # What is there

    @cached_property
    def _code(self) -> int:
        """Where the code begins that linters want imports to precede (pycodestyle's E402)."""
        ends = (node for node in self._file.body.statements if not _may_lead(node))
        return next((self._spans.of(node)[0] for node in ends), len(self._text))

    def _find(self) -> Iterator[_Statement]:
        for node in self._file.body.statements:
            if not isinstance(node, s.Import):
                continue
            start, end = self._spans.of(node)
            first, last = self._lines.position(start)[0], self._lines.position(end)[0]
            if not all(self._own[first - 1 : last]):
                continue
            module = _module(node)
            names = None if node.module is None else [name for name, _ in node.names]
            key = (*statement_key(module, names, self._first_party), node.names[0][1] or "")
            cell = self._lines.locate(start)[0]
            yield _Statement(node, start, end, first, last, cell, section(module, self._first_party), key)

    def _block(self, statements: Sequence[_Statement], own: int) -> list[_Statement]:
        """Return the run of imports with the most of section `own`, then the longest, then the last.

        In a notebook it is one of the first cell that has any.
        """
        blocks = [[statements[0]]]
        for previous, statement in pairwise(statements):
            between = self._text[previous.end : statement.start]
            if _BETWEEN.fullmatch(between) and statement.cell == previous.cell:
                blocks[-1].append(statement)
            elif statement.cell == statements[0].cell:
                blocks.append([statement])
            else:
                break
        return max(reversed(blocks), key=lambda block: (sum(x.section == own for x in block), len(block)))

    def _line(self, place: Place) -> int | None:
        """Return the line of `place` in the joined text; None if it is not there."""
        origins = self._lines.origins
        if place.cell is None:
            return place.line
        return next((i for i, o in enumerate(origins, 1) if (o.cell, o.line) == (place.cell, place.line)), None)

    # What to write

    def _merge(self, statement: _Statement, name: str) -> Edit:
        from detlint.editing.import_nodes import rewritten, with_name

        comment = _COMMENT.match(self._text, statement.end)
        end = statement.end if comment is None else comment.end()
        old = self._text[statement.start : end]
        new = rewritten(old, lambda line: with_name(line, name, self._width))
        head = _alike(old, new)
        tail = _alike(old[head:][::-1], new[head:][::-1])
        return self._edit(statement.start + head, end - tail, new[head : len(new) - tail])

    def _in_block(self, need: Import, block: Sequence[_Statement]) -> Edit:
        names = None if need.name is None else [need.name]
        key = (*statement_key(need.module, names, self._first_party), "")
        own = section(need.module, self._first_party)
        same = [x for x in block if x.section == own]
        spaced = all(
            not self._rows[a.last].strip() for a, b in pairwise(block) if a.section != b.section and b.first > a.last
        )
        blank = int(spaced and not same)
        keys = [x.key for x in same]
        sections = [x.section for x in block]
        if same:
            ahead = [x for x in same if x.key <= key] if keys == sorted(keys) else same
        elif sections == sorted(sections):
            ahead = [x for x in block if x.section < own]
        else:
            ahead, blank = list(block), 0
        if not ahead:
            return self._before(same[0] if same else block[0], need, blank)
        end = self._end(ahead[-1].last)
        return self._edit(end, end, _written(need, 1 + blank, ends=False))

    def _before(self, statement: _Statement, need: Import, blank: int) -> Edit:
        """Return an edit that imports above a statement and its comment, but below the file's header comment."""
        line = statement.first
        while line > 1 and _COMMENT.match(self._rows[line - 2]) and self._cell(line - 1) == statement.cell:
            line -= 1
        if line == 1 or self._cell(line - 1) != statement.cell:
            line = statement.first
        elif line < statement.first:
            blank = 1
        start = self._lines.starts[line - 1]
        return self._edit(start, start, _written(need, below=blank))

    def _at_head(self, need: Import, limit: int) -> Edit:
        """Return the first import of a file: below its docstring or header comment, and spaced. Raises NoPlaceError."""
        count = sum(self._cell(line) == self._cell(1) for line in range(1, len(self._rows) + 1))
        rows = self._rows[:count]
        magics = next((i for i, row in enumerate(rows) if row.strip() or self._own[i]), count)
        docstring = self._docstring_end()
        header = next((i for i in range(magics, count) if not rows[i].startswith("#")), count)
        above = docstring or header
        below = next((i for i in range(above, count) if rows[i].strip() or not self._own[i]), count)
        if above >= limit or (not above and below == count):
            raise NoPlaceError("no place for the import is ahead of what needs it")
        lead, behind = int(docstring > 0 or below > above > magics), _blank_lines(rows[below:])
        if above:
            return self._edit(self._end(above), self._end(below), _written(need, 1 + lead, behind, ends=False))
        starts = self._lines.starts
        return self._edit(starts[0], starts[below], _written(need, lead, behind))

    def _docstring_end(self) -> int:
        """Return the line that the docstring ends on; 0 without one."""
        first = next(iter(self._file.body.statements), None)
        if not isinstance(first, s.ExpressionStatement) or not isinstance(first.value, s.Constant):
            return 0
        start, end = self._spans.of(first)
        is_text = isinstance(first.value.value, str) and _BETWEEN.fullmatch(self._text[:start])
        return self._lines.position(end)[0] if is_text else 0

    def _cell(self, line: int) -> int | None:
        return self._lines.locate(self._lines.starts[line - 1])[0]

    def _end(self, line: int) -> int:
        """Return the offset where a line ends, before its newline."""
        return self._lines.starts[line - 1] + len(self._rows[line - 1].rstrip("\r\n"))

    def _edit(self, start: int, end: int, text: str) -> Edit:
        cell, line, column = self._locate(start)
        _, end_line, end_column = self._locate(end)
        return Edit(Place(self.path, line, column, end_line, end_column, cell), text)

    def _locate(self, offset: int) -> tuple[int | None, int, int]:
        """Return cell, line and column of an offset; a masked line ends where its magic does."""
        cell, line, column = self._lines.locate(offset)
        row = self._lines.position(offset)[0]
        if self._lines.origins and offset == self._end(min(row, len(self._rows))):
            column = self._lines.origins[row - 1].length + 1
        return cell, line, column


def _unmasked(document: notebook.Document, rows: Sequence[str]) -> list[bool]:
    """Return for each line whether it is analysed as it is written: all are but magics and indented cells."""
    if not document.origins:
        return [True] * len(rows)
    cells = {cell: LINES.findall(text) for cell, text in document.texts.items()}
    pairs = zip(document.origins, rows, strict=True)
    return [cells[o.cell][o.line - 1].rstrip("\r\n") == row.rstrip("\r\n") for o, row in pairs]


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _blank_lines(rows: Sequence[str]) -> int:
    """Return how many blank lines isort leaves between the imports and `rows`."""
    comment = False
    for row in rows:
        if _COMMENT.match(row):
            comment = True
        elif row.strip():
            return 2 if _DEFINITION.match(row) else 1
        elif comment:
            return 1
    return 1 if rows else 0


def _written(need: Import, above: int = 0, below: int = 0, *, ends: bool = True) -> str:
    """Return the statement that imports `need`, with line ends above it and blank lines below it."""
    from detlint.editing.import_nodes import import_line, printed  # only writing needs libcst

    return printed(import_line(need), above, below, ends)


def _module(node: s.Import) -> str:
    return node.names[0][0] if node.module is None else "." * node.level + node.module


def _takes_names(node: s.Import, module: str) -> bool:
    """Return whether names of `module` can be added: isort leaves `import *` and a single `a as b` alone."""
    names = [name for name, alias in node.names if alias is None]
    return node.module is not None and _module(node) == module and bool(names) and names != ["*"]


def _has(node: s.Import, need: Import) -> bool:
    """Return whether a statement imports what is needed."""
    if need.name is not None:
        return _binds(node, need)
    plain = [name for name, alias in node.names if (alias or "") == need.alias] if node.module is None else []
    return any(name == need.module or name.startswith(f"{need.module}.") for name in plain)


def _may_lead(node: s.Statement) -> bool:
    """Return whether a statement may be between imports: one that chooses them or says where to find them."""
    if isinstance(node, (s.Import, s.If, s.Try, s.With)):
        return True
    leading = tuple(catalogue.load().names("program", "leading"))
    if isinstance(node, s.ExpressionStatement):
        call = node.value
        return not isinstance(call, s.Call) or _dotted(call.function).startswith(leading)
    if not isinstance(node, s.Assign):
        return False
    names = [_dotted(target.value if isinstance(target, s.Subscript) else target) for target in node.targets]
    return all(name.startswith(("__", *leading)) for name in names)


def _dotted(node: s.Expression) -> str:
    if isinstance(node, s.Attribute):
        return f"{_dotted(node.value)}.{node.attribute}"
    return node.id if isinstance(node, s.Name) else ""


def _binds(node: s.Import, need: Import) -> bool:
    """Return whether a statement gives the name that `need` binds the same meaning, as far as it goes."""
    if need.name is not None:
        found = [name for name, alias in node.names if alias in (None, name)]
        return node.module is not None and _module(node) == need.module and need.name in found
    if need.alias:
        return node.module is None and (need.module, need.alias) in node.names
    root = need.module.partition(".")[0]
    return node.module is None and any(
        name.partition(".")[0] == root if alias is None else name == alias == root for name, alias in node.names
    )
