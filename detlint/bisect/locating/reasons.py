"""Why a step makes a different value in each run: what it asks for from outside, by the tables of facts. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from detlint import catalogue
from detlint.bisect.locating.pairing import Pair, Paired
from detlint.bisect.locating.steps import Value

_MODULES = {"posix": "os", "nt": "os", "_thread": "threading", "_io": "io"}
_NETWORK = ("socket.", "urllib.")
_PROCESSES = ("subprocess.", "os.system", "os.posix_spawn")
_FILE = "file "
_LISTINGS = ("os.listdir", "os.scandir")
_ENTROPY = {
    "time": "time",
    "datetime": "time",
    "process-id": "process",
    "thread-id": "process",
    "hash": "hash",
    "id": "address",
}
_SEEN = frozenset({"file-order", "network", "command"})  # these count even where a library asks for them
_UNORDERED = frozenset({"str", "bytes"})


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of cause: its `title`, with the name of what is asked for in braces, its rules, and advice.

    `strong` says that asking for it is enough to be the cause, no matter what else the step reads.
    """

    kind: str
    title: str
    codes: tuple[str, ...]
    advice: str
    strong: bool = True


REASONS = {
    one.kind: one
    for one in (
        Reason("time", "the time decides: `{name}`", ("DET105",), "use a number of steps, or a constant, in its place"),
        Reason(
            "process",
            "the number of a process or thread decides: `{name}`",
            ("DET105",),
            "use a constant, or the number of the rank or worker",
        ),
        Reason(
            "entropy",
            "randomness of the system decides: `{name}`",
            ("DET105", "DET104"),
            "draw from a generator that is seeded",
        ),
        Reason(
            "generator",
            "a generator has no seed: `{name}`",
            ("DET104", "DET102", "DET103", "DET107", "DET208", "DET105"),
            "give it a seed where it is made",
            strong=False,
        ),
        Reason("environment", "a variable of the environment decides: `{name}`", (), "set it to the same in each run"),
        Reason("files", "a file holds other data in each run: `{name}`", (), "give both runs the same files"),
        Reason(
            "hash",
            "a hash decides: `{name}`",
            ("DET604", "DET105", "DET601"),
            "use a checksum, as of `zlib.crc32` or `hashlib`, or set PYTHONHASHSEED",
            strong=False,
        ),
        Reason(
            "address",
            "the address of an object decides: `{name}`",
            ("DET105", "DET604", "DET601"),
            "use a number that the program gives",
            strong=False,
        ),
        Reason(
            "completion",
            "the order in which tasks are done decides: `{name}`",
            ("DET603",),
            "take the results in the order of the tasks",
            strong=False,
        ),
        Reason(
            "thread",
            "the order in which threads come decides",
            ("DET603",),
            "give each thread a place of its own to write to, and put these together in order",
            strong=False,
        ),
        Reason(
            "file-order",
            "the order in which files are listed decides: `{name}`",
            ("DET602",),
            "sort what is listed",
            strong=False,
        ),
        Reason(
            "uninitialised",
            "memory is read that was never written: `{name}`",
            ("DET402", "DET401", "DET404"),
            "allocate with zeros, or write all of it before it is read",
            strong=False,
        ),
        Reason("network", "the network decides: `{name}`", (), "keep what it gives in a file", strong=False),
        Reason("command", "another program decides: `{name}`", (), "look at what it does", strong=False),
        Reason(
            "set-order",
            "the order of a set decides",
            ("DET601", "DET604"),
            "sort it: `sorted(...)`, or use a list or a dict",
            strong=False,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Why:
    """A reason, the name of what is asked for, and details."""

    reason: Reason
    name: str = ""
    told: str = ""

    @property
    def title(self) -> str:
        """The reason in a few words."""
        return self.reason.title.format(name=self.name)


def watched() -> tuple[str, ...]:
    """Return the functions whose calls can be a reason."""
    return tuple(sorted(_names()))


class Reasons:
    """The reasons in followed streams: what steps ask for, and the files that are opened in any of the streams."""

    def __init__(self, streams: Iterable[Paired]) -> None:
        self._opened: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
        for stream in streams:
            for side, found in zip((stream.a, stream.b), self._opened, strict=True):
                for step in side.steps:
                    for name, detail in step.asked:
                        if name == "file":
                            content, _, path = detail.partition(" ")
                            found.setdefault(path, []).append(content)

    def asks(self, pair: Pair) -> bool:
        """Return whether a step itself asks for something that differs between runs, no matter what it reads."""
        return any(one.reason.strong for one in (*_differing(pair), *_called(pair, pair.step.statement.called, ())))

    def why(self, pair: Pair, values: tuple[Value, Value] | None = None, shared: bool = False) -> Why | None:
        """Return why a step makes values that differ, or None. `shared` says that another thread changes them."""
        found = [
            *_differing(pair),
            *sorted(_called(pair, pair.step.statement.called, values or ()), key=lambda one: not one.reason.strong),
            *([Why(REASONS["thread"])] if shared else ()),
            *self._read(pair),
            *_unordered(pair),
            *(one for one in self.within(pair) if one.reason.kind in _SEEN),
        ]
        return found[0] if found else None

    def within(self, pair: Pair) -> list[Why]:
        """Return what libraries that a step calls ask for; much of it is for themselves."""
        asked = [name for side in (pair.a, pair.b) if side is not None for name, _ in side.asked]
        return list(_called(pair, asked, ()))

    def _read(self, pair: Pair) -> Iterator[Why]:
        """Yield the open files that a step reads from and whose content differs."""
        for value in pair.step.read.values():
            shape: Any = value.shape
            if isinstance(shape, list) and shape[0] == "object" and str(shape[2]).startswith(_FILE):
                path = shape[2].removeprefix(_FILE)
                one, other = (opened.get(path, []) for opened in self._opened)
                if one != other:
                    yield Why(REASONS["files"], _short(path))


def _differing(pair: Pair) -> Iterator[Why]:
    """Yield the files and environment variables that both runs ask for in a step, and that differ."""
    if pair.a is None or pair.b is None:
        return
    for name, kind in (("file", "files"), ("os.environ", "environment")):
        one, other = ([detail for each, detail in side.asked if each == name] for side in (pair.a, pair.b))
        for mine, theirs in zip(one, other, strict=False):
            if mine == theirs:
                continue
            if kind == "files":
                (mark, path), (other_mark, other_path) = mine.split(" ", 1), theirs.split(" ", 1)
                if path == other_path:
                    told = "it was not there in one of the runs" if "none" in (mark, other_mark) else ""
                    yield Why(REASONS[kind], _short(path), told)
            else:
                (key, _, value), (other_key, _, other_value) = mine.partition("="), theirs.partition("=")
                if key == other_key:
                    yield Why(REASONS[kind], key, f"`{key}` was {value} in A and {other_value} in B")


def _called(pair: Pair, names: Iterable[str], values: Iterable[Value]) -> Iterator[Why]:
    """Yield what the tables say about the functions that a step calls."""
    made = [*values, *(value for side in (pair.a, pair.b) if side is not None for value in side.bound.values())]
    generator = any(isinstance(one.shape, list) and one.shape[0] == "generator" for one in made)
    for name in dict.fromkeys(map(canonical, names)):
        name = name if name in _names() else _by_ends().get(_ends(name), name)
        owner, _, method = name.rpartition(".")
        kind = _names().get(name) or _names().get(owner) or _methods().get(method)
        if kind is None and name in _LISTINGS:
            kind = "file-order"
        elif kind is None and name.startswith(_NETWORK):
            kind = "network"
        elif kind is None and name.startswith(_PROCESSES):
            kind = "command"
        if kind is not None and (kind != "generator" or generator):
            yield Why(REASONS[kind], name.removeprefix("builtins.").removeprefix("?."))


def _unordered(pair: Pair) -> Iterator[Why]:
    """Yield the sets whose order a step may take."""
    reason = REASONS["set-order"]
    for name, value in pair.step.read.items():
        shape: Any = value.shape
        if isinstance(shape, list) and shape[0] == "set" and shape[1] > 1:
            of = "texts, whose hashes differ" if _UNORDERED & set(shape[3]) else "objects, whose addresses differ"
            yield Why(reason, name, f"`{name}` is a set of {shape[1]} {of} in each run")
        elif isinstance(shape, list) and shape[0] == "object" and shape[2] == "set iterator":
            yield Why(reason, name, f"`{name}` goes through a set")
    made = any(one.startswith(("builtins.set", "builtins.frozenset")) for one in pair.step.statement.called)
    if pair.step.statement.makes_set or made:
        yield Why(reason, "", "the statement makes a set, and takes its items in their order")


def _short(path: str) -> str:
    """Return a path relative to the working folder if it lies inside."""
    folder = f"{Path.cwd()}/"
    return path.removeprefix(folder)


def canonical(name: str) -> str:
    """Return a name as the tables spell it."""
    module, dot, rest = name.partition(".")
    return f"{_MODULES.get(module, module)}{dot}{rest}"


@cache
def _names() -> Mapping[str, str]:
    """Return the kinds of reasons by qualified function name."""
    known = catalogue.load()
    found: dict[str, str] = {}
    for row in known.rows("randomness", "entropy"):
        for name in row.list("names") if "when" not in row.data else ():
            found[name] = _ENTROPY.get(row.id, "entropy")
    for file, table, kind in (
        ("order", "listing", "file-order"),
        ("order", "completion", "completion"),
        ("memory", "allocator", "uninitialised"),
        ("randomness", "generator", "generator"),
    ):
        for row in known.rows(file, table):
            taken = row.list("takes")  # of a queue, taking from it is the reason, not making it
            for name in row.list("names"):
                found.update({f"{name}.{method}": kind for method in taken} if taken else {name: kind})
    return found


@cache
def _methods() -> Mapping[str, str]:
    """Return the kinds of reasons by method name, where the class is unknown."""
    return {name: "completion" for row in catalogue.load().rows("order", "completion") for name in row.list("methods")}


@cache
def _by_ends() -> Mapping[tuple[str, str], str]:
    """Return the names by package and last part: functions know where they were defined, not where they are found."""
    return {_ends(name): name for name in reversed(tuple(_names()))}


def _ends(name: str) -> tuple[str, str]:
    return name.partition(".")[0], name.rpartition(".")[2]
