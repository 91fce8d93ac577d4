"""What both ways from a text to `syntax` share: the order of nodes, and names bound in their scopes."""

from __future__ import annotations

from typing import TypeVar

from detlint.tree import syntax as s
from detlint.tree.nodes import adopt
from detlint.tree.scopes import Binding, Scope

N = TypeVar("N", bound=s.Node)
Names = list[tuple[str, tuple[int, ...]]]  # the names that a target binds, each with its path into the unpacked value


class NotPythonError(Exception):
    """Raised if the text is not Python that can be read. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class TooDeepError(NotPythonError):
    """Raised if the text is nested too deeply to be followed."""

    def __init__(self) -> None:
        super().__init__("it is nested too deeply")


class Lowering:
    """The state of one pass over a file: the scope it is in, and how many nodes it has made."""

    def __init__(self, package: str) -> None:
        """`package` is the dotted package that relative imports start from."""
        self.package = package
        self.count = 0
        self.stars: list[str] = []
        self._annotations: list[s.Expression] = []
        self.scope = Scope("module", None)

    def make(self, node: N, origin: object) -> N:
        """Finish a node: set its origin and its order."""
        self.count += 1
        node.order = self.count
        node.origin = origin
        return node

    def made(self, body: s.Block, origin: object) -> s.File:
        """Return the file of a complete body, and give all nodes their parents."""
        file = self.make(s.File(body, self.scope, self.stars), origin)
        file.nodes = adopt(file)
        for annotation in self._annotations:
            file.annotations += adopt(annotation)
        return file

    def annotated(self, annotation: s.Expression) -> s.Expression:
        """Record an annotation, which is below no other node, and return it."""
        self._annotations.append(annotation)
        return annotation

    def bind(
        self,
        name: str,
        kind: str,
        node: s.Node,
        value: s.Expression | None = None,
        path: tuple[int, ...] = (),
        qualified: str | None = None,
    ) -> None:
        """Bind a name in the scope that the language says: an outer one for `global` and `nonlocal` names."""
        scope = self.scope
        if kind == "named":
            kind = "assign"
            while scope.kind == "comprehension" and scope.parent is not None:
                scope = scope.parent
        where = scope.outside.get(name) if scope.outside else None
        if where == "global":
            while scope.parent is not None:
                scope = scope.parent
        elif where == "nonlocal" and scope.parent is not None:
            scope = scope.parent.find(name) or scope
        binding = Binding(name, kind, node, value, path, qualified)
        if name in scope.bindings:
            scope.bindings[name].append(binding)
        else:
            scope.bindings[name] = [binding]

    def bind_all(self, names: Names, kind: str, node: s.Node, value: s.Expression | None) -> None:
        """Bind the names of a target."""
        for name, path in names:
            self.bind(name, kind, node, value, path)

    def bind_import(self, made: s.Import) -> None:
        """Bind the names that an import provides, or record the module of an `import *`."""
        if made.module is None:
            for name, alias in made.names:
                root = name.partition(".")[0]
                self.bind(alias or root, "import", made, qualified=name if alias else root)
            return
        prefix = self._imported_from(made.module, made.level)
        if made.names == [("*", None)]:
            self.stars.append(prefix)
            return
        for name, alias in made.names:
            self.bind(alias or name, "import", made, qualified=f"{prefix}.{name}")

    def _imported_from(self, module: str, level: int) -> str:
        """Return the absolute name of the module that a `from` names with `level` dots."""
        if not level:
            return module
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - level + 1]
        return ".".join([*(kept or ["."]), *([module] if module else [])])
