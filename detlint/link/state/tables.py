"""The tables of facts, indexed by the names that a program may call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from packaging.version import Version

from detlint.catalogue import Catalogue, Row


class Tables:
    """The facts about libraries for one version of torch."""

    def __init__(self, catalogue: Catalogue, torch: Version) -> None:
        rows = catalogue.rows
        consumers = rows("randomness", "consumer")
        self.torch = torch
        self._catalogue = catalogue
        ways = catalogue.consumers_by_way
        self.consumers = {name: rows[0] for name, rows in ways["call"].items()}
        self._families = [row for row in consumers if row.list("families")]
        self._of_families: dict[str, Row | None] = {}  # the family row of each name looked up so far
        self.layers = {name: rows[0] for name, rows in ways["forward"].items()}
        self.iterated = {name: rows[0] for name, rows in ways["iteration"].items()}
        self.worker_seeds = _by_name(rows("randomness", "workers"))
        self.library_draws: dict[str, list[Row]] = {}  # of one global generator, by what is called
        for row in rows("libraries", "draw"):
            for name in row.list("names") if len(row.list("generators")) == 1 and not row.list("elements") else ():
                self.library_draws.setdefault(name, []).append(row)
        self.library_methods: dict[str, list[Row]] = {}
        for row in rows("libraries", "method"):
            for method in row.list("methods") if len(row.list("generators")) == 1 else ():
                self.library_methods.setdefault(method, []).append(row)
        kept = [row for row in rows("libraries", "method") if row.text("kept")]
        self.owners: dict[str, list[Row]] = {}  # by what makes an object that has a generator of its own
        for row in kept:
            for name in row.list("made"):
                self.owners.setdefault(name, []).append(row)
        self.owner_methods = frozenset(method for row in kept for method in row.list("methods"))
        self.wrappers = tuple({name for row in kept for name in row.list("wrappers")})
        self.unwrapped = tuple(sorted({name for row in kept for name in row.list("unwrapped")}))
        self.library_makers = catalogue.names("libraries", "method", "made")
        self.library_uses = catalogue.names("libraries", "use", "methods")
        self.library_users = catalogue.names("libraries", "use")
        self.library_roots = frozenset({name.partition(".")[0] for name in self.library_draws})
        takers = [*rows("libraries", "draw"), *rows("libraries", "method"), *rows("randomness", "generator")]
        self.seeds = frozenset(row.text("parameter") for row in takers) - {""}
        self.generators = _by_name(rows("randomness", "generator"))
        self.generator_makers = catalogue.names("randomness", "object", "made")
        self.asked = catalogue.left_to_programs
        self.stepped = _by_name(rows("checkpoints", "stepped"))
        self.restoring = catalogue.names("checkpoints", "stepped", "restoring")
        self.state_takers = tuple(f"{name}." for name in sorted(catalogue.names("checkpoints", "taker")))
        self.worker_information = catalogue.names("randomness", "object", id="worker-information")
        self.worker_attributes = tuple(f"{name}()." for name in self.worker_information)
        self.undrawn = _by_name(rows("randomness", "undrawn"))
        self.seeders = _by_name(rows("randomness", "seeder"))
        self.reseeders = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "reseeds")
        values = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "value")
        self.entropy = frozenset(name for name in values if not name.startswith("builtins."))
        self.salted = frozenset(name for name, row in values.items() if row.text("of") == "text")
        self.launchers = _with_methods(rows("randomness", "launcher"))
        self.callbacks = _by_name(rows("randomness", "callback"))
        self.roles = _by_name(rows("program", "role"))
        self.samplers = _by_name(rows("program", "sampler"))
        self.batch_samplers = catalogue.names("program", "batch-sampler")
        self.settings: dict[str, list[Row]] = {}
        for row in rows("switches", "setting"):
            for name in (*row.list("names"), *row.list("calls")):
                self.settings.setdefault(name, []).append(row)
        self.methods: dict[str, list[str]] = {}  # what a method of this name does on any receiver
        for row in rows("program", "role"):
            for method in row.list("methods"):
                self.methods.setdefault(method, []).append(row.text("kind"))
        self.variables = {
            row.text("variable"): row.text("switch") for row in rows("switches", "environment") if row.text("switch")
        }
        self.initialisers = catalogue.names("program", "initialiser")
        self.applied = catalogue.names("program", "applied")
        layers = rows("randomness", "initialised")
        self.initialised = {name: row.list("calls") for row in layers for name in row.list("names")}
        self.replaceable = frozenset(name for calls in self.initialised.values() for name in calls) | {
            f"{name}.reset_parameters" for name in self.initialised
        }
        seeding = (self.consumers, self.seeders, self.reseeders)
        known = (*seeding, self.launchers, self.callbacks, self.roles, self.settings, self.undrawn)
        self._names = frozenset[str]().union(*known)
        self._hinted: dict[str, bool] = {}  # whether each name looked up so far hints at seeding
        self._hints = catalogue.names("randomness", "hint")
        self._apart = catalogue.names("randomness", "hint", key="apart")
        self.seeding = catalogue.names("randomness", "object", key="seeding")

    def speak_of(self, name: str) -> bool:
        """Return whether some table has a row for a name."""
        if name not in self._names:
            name = self._catalogue.method_of_modules(name) or name
        return name in self._names or self.family(name) is not None

    def consumer(self, name: str) -> Row | None:
        """Return the row of something that draws when it is called or makes something that does, or None."""
        return self.consumers.get(name) or self.family(name)

    def family(self, name: str) -> Row | None:
        """Return the row of the functions of a package whose names share a prefix with `name`, or None."""
        if name not in self._of_families:
            last = name.rpartition(".")[2]
            rows = (row for row in self._families if name.startswith(f"{row.text('package')}."))
            found = next((row for row in rows if last.islower() and last.startswith(row.list("families"))), None)
            self._of_families[name] = found
        return self._of_families[name]

    def find(self, table: dict[str, Row], name: str) -> Row | None:
        """Return the row of a name, or None; a class of layers also has what every module has."""
        return table.get(name) or table.get(self._catalogue.method_of_modules(name))

    def hints_at_seeding(self, name: str) -> bool:
        """Return whether a function's name suggests that it may seed a global generator."""
        found = self._hinted.get(name)
        if found is None:
            words = name.lower()
            apart = name in self.seeding or any(other in words for other in self._apart)
            found = self._hinted[name] = not apart and any(hint in words for hint in self._hints)
        return found


def _with_methods(rows: Sequence[Row]) -> dict[str, Row]:
    """Return rows by their names, and by the same method of each class that is `made` by what they name."""
    found = _by_name(rows)
    for row in (row for row in rows if row.list("made")):
        for name in row.list("names"):
            found |= {f"{maker}.{name.rpartition('.')[2]}": row for maker in row.list("made")}
    return found


def _by_name(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        for name in row.list("names"):
            found.setdefault(name, row)
    return found


@cache
def tables(catalogue: Catalogue, torch: Version) -> Tables:
    """Return the tables for a version of torch, cached."""
    return Tables(catalogue, torch)
