"""The classes of a project: their bases, the classes that derive from them, and which function takes the arguments."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from detlint.link.state.program import Program
from detlint.project.names import Names
from detlint.questions import DERIVES


class Families:
    """The classes and functions of all files, by the qualified names of their definitions."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program = program
        self.names = names

    def constructor(self, name: str) -> str:
        """Return the function that takes the arguments of a call: of a class the constructor, perhaps of a base."""
        if name in self.functions:
            return name
        klass, _, method = name.rpartition(".")
        if klass in self.classes and name not in self.classes:
            return next(
                (f"{each}.{method}" for each in self.above(klass) if f"{each}.{method}" in self.functions), name
            )
        for each in self.above(name):
            if f"{each}.__init__" in self.functions:
                return f"{each}.__init__"
        return name

    def parameter(self, function: str, part: str) -> str:
        """Return the name of a parameter of a function, given its name or its position, such as `#0`."""
        if not part.startswith("#") or function not in self.functions:
            return part
        path = self.functions[function]
        parameters = [each for each in self.program.facts[path].functions[function].parameters if not each.star]
        place = int(part[1:]) + (self.program.head(path, function).kind in ("method", "class"))
        return parameters[place].name if place < len(parameters) else part

    def above(self, name: str) -> list[str]:
        """Return a class and all its bases."""
        found = [name]
        for each in found:
            found += [base for base in self.bases.get(each, ()) if base not in found]
        return found

    def family(self, name: str) -> list[str]:
        """Return a class, its bases and the classes that derive from it."""
        found = self.above(name)
        below = [name]
        for each in below:
            below += [klass for klass in self.derived.get(each, ()) if klass not in below]
        return list(dict.fromkeys((*found, *below)))

    @cached_property
    def functions(self) -> dict[str, str]:
        """The paths of the files that define functions, by function name."""
        return {name: path for path, facts in self.program.facts.items() for name in facts.functions}

    @cached_property
    def classes(self) -> frozenset[str]:
        """The classes that have bases or methods."""
        return frozenset((*self.bases, *(name.rpartition(".")[0] for name in self.functions)))

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """The bases of each class, including names that may not be defined in the project."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, facts in self.program.facts.items():
            for flow in facts.flows:
                if flow.kind == DERIVES and flow.target is not None:
                    found[flow.source.name].append(self.names.defined(flow.target.name, path))
        return found

    @cached_property
    def derived(self) -> dict[str, list[str]]:
        """The classes that derive directly from each class."""
        found: dict[str, list[str]] = defaultdict(list)
        for klass, bases in self.bases.items():
            for base in bases:
                found[base].append(klass)
        return found
