"""The qualified names of what the names in a file refer to, through imports and re-exports of packages."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.facts import facts as f
from detlint.link.state.program import Program

_DEPTH = 6  # the most packages that may re-export a name in turn


class Names:
    """Finder of the qualified names of functions, classes and variables."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[tuple[str, str], str] = {}
        self._bound: dict[str, dict[str, tuple[int, str, str]]] = {}

    def defined(self, name: str, path: str) -> str:
        """Return the qualified name of what the file at `path` calls by a dotted name; that name if it is unknown."""
        found = self._known.get((name, path))
        if found is None:
            found = self._known[name, path] = self._defined(name, path)
        return found

    def _defined(self, name: str, path: str) -> str:
        own = f"{self.program.facts[path].module}."
        if name.startswith(own) and self._binds(path, name.removeprefix(own).partition(".")[0]) is None:
            return name
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            file = self.program.imports.find(".".join(parts[:end]), path, path)
            if file is not None and file in self.program.facts:
                return self._within(file, parts[end:], _DEPTH)
        return name

    def _within(self, file: str, rest: list[str], depth: int) -> str:
        """Return the qualified name of what a file calls by the given components of a name."""
        bound = self._binds(file, rest[0]) if depth else None
        if bound is None:
            return ".".join((self.program.facts[file].module, *rest))
        level, module, name = bound
        imports = self.program.imports
        inner = f"{module}.{name}" if module else name
        for target, left in ((inner, rest[1:]), (module, [name, *rest[1:]])):
            found = imports.relative(file, level, target) if level else imports.find(target, file, file)
            if found is not None and found in self.program.facts and left:
                return self._within(found, left, depth - 1)
        return ".".join((self.program.facts[file].module, *rest))

    def _binds(self, file: str, name: str) -> tuple[int, str, str] | None:
        """Return where a file imports a name from, as the level, the module and the name there; None if it does not."""
        if file not in self._bound:
            self._bound[file] = dict(_imported(self.program.facts[file]))
        bound = self._bound[file]
        if name in bound:
            return bound[name]
        own = f"{self.program.facts[file].module}.{name}"
        stars = [each for star, each in bound.items() if star.startswith("*")]
        if not stars or own in self._functions(file):
            return None
        for level, module, _ in stars:
            imports = self.program.imports
            found = imports.relative(file, level, module) if level else imports.find(module, file, file)
            if found is not None and found in self.program.facts and self._has(found, name):
                return level, module, name
        return None

    def _has(self, file: str, name: str) -> bool:
        facts = self.program.facts[file]
        own = f"{facts.module}.{name}"
        defined = any(each == own or each.startswith(f"{own}.") for each in facts.functions)
        return defined or any(flow.source.name == own for flow in facts.flows)

    def _functions(self, file: str) -> frozenset[str]:
        return frozenset(self.program.facts[file].functions)


def _imported(facts: f.Facts) -> Iterator[tuple[str, tuple[int, str, str]]]:
    for number, node in enumerate(each for each in f.walk(facts.top) if isinstance(each, f.Import)):
        for name, alias in node.names or ():
            yield (f"*{number}" if name == "*" else alias), (node.level, node.module, name)
