"""The tables of facts about libraries, by the names that they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from detlint.catalogue import Catalogue, Row
from detlint.models import loaders
from detlint.models.arguments import named_in, parameters, words_of


class Tables:
    """The rows of the tables by name, and what they tell of names alone."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        rows = catalogue.rows
        self.names = catalogue.known_names
        self.followed = catalogue.followed
        self.packages = frozenset(name.partition(".")[0] for name in self.names if "." in name)
        whole = (*rows("randomness", "undrawn"), *(r for r in rows("program", "role") if r.text("derived")))
        self.wholes: dict[str, frozenset[str]] = {}
        for name in (name for row in whole for name in row.list("names")):
            last = name.rpartition(".")[2]
            self.wholes[last] = self.wholes.get(last, frozenset()) | {name}
        paths = (catalogue.names("python", "kind", key, id="same-path") for key in ("functions", "methods"))
        self.same_path = frozenset(name.rpartition(".")[2] for names in paths for name in names)
        consumers = rows("randomness", "consumer")
        ways = catalogue.consumers_by_way
        self.consumers = {name: rows[0] for name, rows in ways["call"].items()}
        self._families = [row for row in consumers if row.list("families")]
        self.layers = {name: rows[0] for name, rows in ways["forward"].items()}
        self.iterated = {name: rows[0] for name, rows in ways["iteration"].items()}
        self.worker_seeds = _by_name(rows("randomness", "workers"))
        self.seeders = _by_name(rows("randomness", "seeder"))
        self.reseeders = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "reseeds")
        values = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "value")
        self.entropy = frozenset(name for name in values if not name.startswith("builtins."))
        self.salted = frozenset(name for name, row in values.items() if row.text("of") == "text")
        self.launchers = _with_methods(rows("randomness", "launcher"))
        self.callbacks = _by_name(rows("randomness", "callback"))
        self.roles = _by_name(rows("program", "role"))
        self.inner = frozenset(name.rpartition(".")[2] for name in catalogue.names("program", "inner"))
        self.applied = catalogue.names("program", "applied")
        self.undrawn = _by_name(rows("randomness", "undrawn"))
        self._configurations = catalogue.names("program", "class", kind="config")
        self.exits = catalogue.names("program", "exit")
        self.settings: dict[str, list[Row]] = {}
        for row in rows("switches", "setting"):
            for name in (*row.list("names"), *row.list("calls")):
                self.settings.setdefault(name, []).append(row)
        held = catalogue.names("switches", "variables", id="held")
        self.environment = frozenset(f"{name}.__setitem__" for name in held)
        self.variables = {
            row.text("variable"): row.text("switch") for row in rows("switches", "environment") if row.text("switch")
        }
        self.of_methods: dict[str, Row] = {}
        self.methods: dict[str, list[str]] = {}  # what a method of this name does, whatever its receiver
        for row in rows("program", "role"):
            for method in row.list("methods"):
                self.methods.setdefault(method, []).append(row.text("kind"))
                self.of_methods[method] = row
        taken = (*self.launchers.items(), *self.roles.items())
        self._taken = {
            kind: {name.rpartition(".")[2]: name for name, row in taken if row.text("taken") == kind}
            for kind in ("function", "type")
        }
        self.decided, self.deciding = _decided(catalogue)
        stacking = (name for name, row in self.roles.items() if row.text("kind") in ("enters", "left-with"))
        self.registering = catalogue.names("memory", "owner", key="registers")
        self.naming = frozenset(name.rpartition(".")[2] for name in self.of_kind("option"))
        self.stacks = frozenset(name.rpartition(".")[0] for name in stacking)
        self.drawing = catalogue.names("order", "use", kind="draws")  # from what has an order
        of_tensors = (
            (method, f"torch.Tensor.{method}")
            for method in catalogue.names("names", "methods", "methods", id="tensor-only")
        )
        self._telling = {method: name for method, name in of_tensors if name in self.consumers}
        self._hints = catalogue.names("randomness", "hint")
        self._apart = catalogue.names("randomness", "hint", key="apart")
        self._seeding = catalogue.names("randomness", "object", key="seeding")
        drawn = rows("randomness", "initialised")
        self.initialised = {name: row.list("calls") for row in drawn for name in row.list("names")}
        layers = (f"{name}.reset_parameters" for name in self.initialised)
        self.replaceable = frozenset(call for calls in self.initialised.values() for call in calls) | frozenset(layers)

    def canonical(self, name: str) -> str:
        """The one name of what can be imported from several places."""
        return self.catalogue.canonical(name)

    def has_method(self, name: str) -> bool:
        """Whether the tables speak of a method of a class, which may be that of a base of its."""
        return name in self.names or self.catalogue.method_of_modules(name) in self.names

    def is_module(self, name: str) -> bool:
        """Whether a class of a library is one of modules."""
        return name.startswith("torch.nn.") or name in self.catalogue.modules

    def consumer(self, name: str) -> Row | None:
        """The row of what draws when it is called, or makes something that does."""
        return self.consumers.get(name) or self._family(name)

    def _family(self, name: str) -> Row | None:
        """The row of the functions of a package whose names begin alike."""
        last = name.rpartition(".")[2]
        rows = (row for row in self._families if name.startswith(f"{row.text('package')}."))
        return next((row for row in rows if last.islower() and last.startswith(row.list("families"))), None)

    def find(self, table: Mapping[str, Row], name: str) -> Row | None:
        """The row of a name; what every module has, a class of layers has too."""
        return table.get(name) or table.get(self.catalogue.method_of_modules(name))

    # What decorators give, and classes are

    def decorates(self, name: str) -> bool:
        """Whether it is known what something of a library does as a decorator."""
        return self.canonical(name) in self.roles

    def given_to(self, kind: str, name: str) -> str:
        """The method of a name that decorators of libraries give to a "function" or a "type", if they do."""
        return self._taken[kind].get(name, "")

    def takes_class(self, name: str) -> bool:
        """Whether a method of a library is given the class that it is taken from."""
        row = self.roles.get(self.canonical(name))
        return row is not None and row.text("taken") == "class"

    def seeds(self, name: str) -> bool:
        """Whether something of a library seeds a generator."""
        return self.canonical(name) in self.seeders

    def is_of(self, name: str, kind: str) -> bool:
        """Whether the tables tell that a class is of a kind."""
        packages = self.catalogue.names("program", "class", key="packages", kind=kind)
        return name.partition(".")[0] in packages or name in self.catalogue.names("program", "class", kind=kind)

    def is_configuration(self, name: str) -> bool:
        """Whether the objects of a class are nodes of a configuration, all fields of which a user may set."""
        return name in self._configurations

    def of_kind(self, kind: str) -> frozenset[str]:
        """The names of what has a kind of role."""
        return frozenset(name for name, row in self.roles.items() if row.text("kind") == kind)

    def speaks_of(self, name: str) -> bool:
        """Whether the tables speak of something of a library, so that it has it."""
        tables = (self.consumers, self.roles, self.settings, self.seeders, self.launchers, self.catalogue.signatures)
        return any(name in table for table in tables)

    def are_apart(self, name: str, other: str) -> bool:
        """Whether an object that was made of a class is certainly none of another."""
        packages = self.catalogue.names("program", "class", key="packages", kind="apart")
        mine, others = (next((p for p in packages if each.startswith(f"{p}.")), None) for each in (name, other))
        return mine is not None and others is not None and mine != others

    def told_by_name(self, method: str) -> str:
        """The method of a library that one of a name is, whatever has it; "" for any other."""
        return self._telling.get(method, "")

    def hints_at_seeding(self, name: str) -> bool:
        """Whether a function's name says that it may seed a global generator."""
        words = name.lower()
        apart = name in self._seeding or any(other in words for other in self._apart)
        return not apart and any(hint in words for hint in self._hints)


def _decided(catalogue: Catalogue) -> tuple[dict[str, frozenset[str | int]], frozenset[str]]:
    """The parameters that decide what something of a library does, by its last name, and the constants that do so.

    A parameter is there by its name, and by its place where it may be given so.
    """
    found: dict[str, frozenset[str | int]] = {}
    words = set[str]()
    for row in (*catalogue.rows("randomness", "consumer"), *catalogue.rows("program", "role")):
        deciding = (*conditions(row), *(loaders.DECIDE if row.text("kind") == "loader" else ()))
        words.update(word for each in deciding for word in words_of(each))
        names = frozenset(map(named_in, deciding))
        for name in row.list("names") if names else ():
            _, places = parameters(catalogue.signatures.get(name, ""))
            given = names | {places.index(each) for each in names if each in places}
            last = name.rpartition(".")[2]
            found[last] = found.get(last, frozenset()) | given
    return found, frozenset(words)


def conditions(row: Row) -> tuple[str, ...]:
    """The conditions of a row."""
    return (*row.list("when"), *row.list("unless"))


def _with_methods(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by their names, and by those methods of what is `made` by what they name."""
    found = _by_name(rows)
    for row in list(found.values()):
        for name in row.list("names"):
            found |= {f"{maker}.{name.rpartition('.')[2]}": row for maker in row.list("made")}
    return found


def _by_name(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        for name in row.list("names"):
            found.setdefault(name, row)
    return found
