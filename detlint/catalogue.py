"""The catalogue: `rules/` read into rules and tables of facts, and the selection of rules."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from detlint import registered, rulebook
from detlint.finding import Safety, Severity
from detlint.releases import includes as includes
from detlint.rows import Row as Row
from detlint.rows import Tables
from detlint.rulebook import Content
from detlint.rulebook import folder as folder
from detlint.support.records import record

_VENDORED = "detlint_runtime"
ALL, DEFAULT = "ALL", "DEFAULT"  # selectors: all rules, and those that are on by default
PROMISES = ("run-to-run", "resume", "cross-machine", "cross-version", "batch-invariance")
FAMILIES = {
    "0": "reading and suppression",
    "1": "randomness and seeds",
    "2": "data loading",
    "3": "device kernels",
    "4": "uninitialised memory",
    "5": "switches and environment",
    "6": "order",
    "7": "distributed runs and resume",
}


class CatalogueError(Exception):
    """Raised if the catalogue, or a selection from it, is not well formed."""


@record(frozen=True)
class Rule:
    """A rule's page.

    A finding shows `message` (what is wrong at this place), `why` (what makes runs differ) and `help` (what to do).
    `check` names the module under `detlint.checks`, and `over` says what it examines, a "file" or the linked "project".
    `lower` is the severity of a finding whose open question is answered the other way, `least` the lowest that one may
    have. `fix` is the safest that a fix may be, None if there is no fix. `data` is what only the check reads, from
    `rules/checks/`. `page` is the file; its text below the header is read on demand.
    """

    code: str
    name: str
    summary: str
    message: str
    why: str
    help: str
    check: str
    over: str
    severity: Severity
    lower: Severity
    least: Severity
    breaks: tuple[str, ...]
    default: bool
    torch: str
    refs: tuple[str, ...]
    fix: Safety | None
    data: Mapping[str, Any]
    page: Path

    @cached_property
    def prose(self) -> str:
        """The Markdown below the header."""
        return rulebook.prose(self.page).strip() + "\n"

    @property
    def text(self) -> str:
        """The Markdown below the header, and the sources under a heading of their own."""
        sources = "".join(f"- <{ref}>\n" for ref in self.refs)
        return f"{self.prose}\n## Sources\n\n{sources}" if sources else self.prose

    @property
    def family(self) -> str:
        """The subject of the rule, by the first digit of its code."""
        return FAMILIES[self.code[3]]

    def holds_for(self, torch: Version) -> bool:
        """Return whether the rule applies to this version of PyTorch."""
        return includes(self.torch, torch)

    def speaks_of(self, promises: tuple[str, ...]) -> bool:
        """Return whether the rule is about one of the promises; a rule about none (a broken file) always counts."""
        return not promises or not self.breaks or not set(promises).isdisjoint(self.breaks)


class Catalogue:
    """All rules, by code, and all tables, as `tables[file][table]`."""

    def __init__(self, rules: Mapping[str, Rule], content: Content, rows: str = registered.NOTHING) -> None:
        """Take the registered `rows` too; `released` names the libraries with rows that hold for some releases only."""
        self.rules, self.released = rules, content.released
        self.tables: Mapping[str, Mapping[str, tuple[Row, ...]]] = Tables(content, registered.releases(rows))
        self._content = content
        self._registered = rows

    def with_rows(self, rows: str) -> Catalogue:
        """Return the catalogue with registered rows, which go before rows about the same names."""
        rows = registered.renamed(rows, self._renamed)
        return Catalogue(self.rules, registered.added(self._content, rows), rows)

    @cached_property
    def followed(self) -> frozenset[str]:
        """The names whose effect on generators, when they are called, is registered."""
        return registered.called(self._registered)

    @cached_property
    def _offered(self) -> Mapping[str, str]:
        """The registered names, by themselves and by those that the packages around them may give them."""
        found = registered.offered(self._registered)
        return {name: own for name, own in found.items() if name == own or name not in self.known_names}

    @cached_property
    def signatures(self) -> Mapping[str, str]:
        """The parameters of the functions of libraries, by qualified name."""
        return self._content.all_signatures()

    def rows(self, file: str, table: str) -> tuple[Row, ...]:
        """Return the rows of a table of `rules/facts/<file>.toml`."""
        return self.tables[file][table]

    def consumers(self, row: Row, name: str) -> tuple[Row, ...]:
        """Return all rows of a name that draw in the same way as `row`: by a call, by what it made, or by iteration."""
        return tuple(self.consumers_by_way[_way(row)].get(name, (row,)))

    @cached_property
    def consumers_by_way(self) -> Mapping[str, Mapping[str, list[Row]]]:
        """The rows of what draws, by the way it draws ("call", "forward", "iteration") and by name."""
        found: dict[str, dict[str, list[Row]]] = {"call": {}, "forward": {}, "iteration": {}}
        for row in self.rows("randomness", "consumer"):
            names, methods = row.list("names"), row.list("methods") if row.text("kind") == "sample" else ()
            by_name = found[_way(row)]
            for name in [f"{name}.{method}" for name in names for method in methods] if methods else names:
                by_name.setdefault(name, []).append(row)
        return found

    @cached_property
    def modules(self) -> frozenset[str]:
        """The library classes whose objects are modules of torch, apart from those of `torch.nn`."""
        consumers = self.rows("randomness", "consumer")
        layers = (row for row in consumers if row.text("kind") == "forward" and row.text("mode") == "train")
        weighted = (row for row in consumers if row.text("kind") == "constructor" and row.text("weights"))
        bases = self.names("names", "base", id="module")
        return bases.union(*(row.set("names") for row in (*layers, *weighted)))

    def method_of_modules(self, name: str) -> str:
        """Return the method of `torch.nn.Module` that a class of modules has unless it defines its own; or ""."""
        owner, _, last = name.rpartition(".")
        return f"torch.nn.Module.{last}" if name.startswith("torch.nn.") or owner in self.modules else ""

    @cache  # noqa: B019 - a catalogue lives as long as the process
    def rows_of(self, file: str, table: str, code: str) -> tuple[Row, ...]:
        """Return the rows of a table that name a rule."""
        return tuple(row for row in self.rows(file, table) if row.text("rule") == code)

    @cache  # noqa: B019 - a catalogue lives as long as the process
    def names(self, file: str, table: str, key: str = "names", **where: str) -> frozenset[str]:
        """Return the union of the lists under `key` over the rows whose strings equal `where`."""
        found = set[str]()
        for row in self.rows(file, table):
            if where.items() <= row.data.items():
                found.update(row.list(key))
        return frozenset(found)

    @cache  # noqa: B019 - a catalogue lives as long as the process
    def by_name(self, file: str, table: str, key: str = "names", **where: str) -> Mapping[str, Row]:
        """Return the last row with a string in the list under `key`, by string, of rows whose strings equal `where`."""
        rows = (row for row in self.rows(file, table) if all(row.data.get(k) == v for k, v in where.items()))
        return {name: row for row in rows for name in row.list(key)}

    def row(self, file: str, table: str, identity: str) -> Row:
        """Return the row of a table with this id."""
        return next(row for row in self.rows(file, table) if row.id == identity)

    @cached_property
    def _aliases(self) -> dict[str, str]:
        rows = self.rows("names", "alias")
        return {prefix: row.text("canonical") for row in rows for prefix in row.list("prefixes")}

    @cache  # noqa: B019 - a catalogue lives as long as the process
    def canonical(self, name: str) -> str:
        """Return the one name of an API that can be imported from several places."""
        if _VENDORED in name:  # a project's copy of the runtime
            return "detlint.runtime" + name.partition(_VENDORED)[2]
        return self._exported(self._renamed(name))

    def _renamed(self, name: str) -> str:
        for _ in range(3):
            head, tail = name, ""
            while head and head not in self._aliases:
                head, _, last = head.rpartition(".")
                tail = f".{last}{tail}"
            if not head or (not tail and head.startswith(f"{self._aliases[head]}.")):
                return name  # a module on the way to a name of its own
            name = self._aliases[head] + tail
        return name

    def _exported(self, name: str) -> str:
        """Return the name under which a library's package exports what one of its modules defines, if that is known."""
        parts = name.split(".")
        if name in self._offered:
            return self._offered[name]
        if name.startswith(registered.UNREAD):
            return registered.at_end(name, self._offered)
        if len(parts) < 3 or name in self.known_names or parts[0] in self._precise:
            return name
        own = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
        for end in range(own - 1, 0, -1):
            if parts[end] in self._apart:
                break
            found = ".".join((*parts[:end], parts[own]))
            if found in self.known_names:
                return ".".join((found, *parts[own + 1 :]))
        return name

    @cached_property
    def _precise(self) -> frozenset[str]:
        """The libraries in which no module is skipped: equal names do not mean the same there."""
        return self.names("names", "exported", "libraries") | sys.stdlib_module_names

    @cached_property
    def _apart(self) -> frozenset[str]:
        """The modules that give their own meaning to the names of the package around them."""
        return self.names("names", "exported", "modules")

    @cached_property
    def _respelled(self) -> dict[str, frozenset[str]]:
        """The other spellings of the last part of a name, by name."""
        found: dict[str, set[str]] = {}
        for prefix in (*self._aliases, _VENDORED):
            found.setdefault(self.canonical(prefix), set()).add(prefix.rpartition(".")[2])
        return {name: frozenset(lasts) for name, lasts in found.items()}

    @cache  # noqa: B019 - a catalogue lives as long as the process
    def rows_by_ending(self, file: str, table: str) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of a table's rows by the last parts that code can use for their `names` and `calls`."""
        found: dict[str, tuple[int, ...]] = {}
        for number, row in enumerate(self.rows(file, table)):
            for ending in self.spellings((*row.list("names"), *row.list("calls"))):
                found[ending] = (*found.get(ending, ()), number)
        return found

    @lru_cache(maxsize=4096)  # noqa: B019 - a catalogue lives as long as the process
    def spellings(self, names: Collection[str]) -> frozenset[str]:
        """Return the last parts that code can use for APIs with these qualified names."""
        lasts = frozenset(name.rpartition(".")[2] for name in names)
        return lasts.union(*(self._respelled[name] for name in names if name in self._respelled))

    @cached_property
    def known_names(self) -> frozenset[str]:
        """Every qualified name of every table: what a star import can bring."""
        found = set(self.signatures)
        for rows in (rows for tables in self.tables.values() for rows in tables.values()):
            for row in rows:
                found.update(row.list("names"), row.list("calls"))
        return frozenset(found)

    @cached_property
    def left_to_programs(self) -> Mapping[str, list[Row]]:
        """The rows with conditions that programs decide where a file does not, by the names of what is called."""
        found: dict[str, list[Row]] = {}
        for row in (*self.rows("order", "racing"), *self.rows("order", "unordered")):
            methods = [f"{made}.{method}" for made in row.list("made") for method in row.list("methods")]
            for name in (*row.list("names"), *methods) if row.list("when") else ():
                found.setdefault(name, []).append(row)
        return found

    @cached_property
    def releases(self) -> tuple[Version, ...]:
        """The releases of PyTorch that the tables describe, oldest first."""
        return tuple(sorted(Version(v) for v in self.row("torch", "releases", "torch").list("versions")))

    def newest_release(self, requirement: str = "") -> Version:
        """Return the newest known release of PyTorch that `requirement` (PEP 440) admits, or else the newest known."""
        if not requirement:
            return self.releases[-1]
        from packaging.specifiers import SpecifierSet

        admitted = [v for v in self.releases if SpecifierSet(requirement).contains(v)]
        return admitted[-1] if admitted else self.releases[-1]

    def choose(self, select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
        """Return the codes selected by code, prefix of a code or name; the default ones if `select` is empty.

        The longest match decides between select and ignore, as in ruff and flake8. Raises CatalogueError for a selector
        that matches nothing.
        """
        weights = dict.fromkeys(self.rules, (-1, False))
        chosen = [(selector, True) for selector in tuple(select) or (DEFAULT,)]
        for selector, wanted in [*chosen, *((selector, False) for selector in ignore)]:
            for code in self.matching(selector):
                weight = 0 if selector.upper() in (ALL, DEFAULT) else len(code) if selector == code else len(selector)
                if weight >= weights[code][0]:
                    weights[code] = (weight, wanted)
        return frozenset(code for code, (_, wanted) in weights.items() if wanted)

    def matching(self, selector: str) -> list[str]:
        """Return the codes that a selector names. Raises CatalogueError if there are none."""
        default = [code for code, rule in self.rules.items() if rule.default]
        named = ((code, rule.name) for code, rule in self.rules.items())
        return default if selector.upper() == DEFAULT else _matching(selector, named)


def _matching(selector: str, rules: Iterable[tuple[str, str]]) -> list[str]:
    """Return the codes that a selector names among codes and names. Raises CatalogueError if there are none."""
    upper, rules = selector.upper(), list(rules)
    found = [code for code, name in rules if upper == ALL or code.startswith(upper) or name == selector.lower()]
    if not found or not selector:
        meant = nearest(upper, [code for code, _ in rules]) or nearest(selector, [name for _, name in rules])
        raise CatalogueError(f"no rule matches {selector!r}{meant}; `detlint rule` lists them")
    return found


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a suggestion to add to an error about an unknown name, if a known name is similar; otherwise ""."""
    from difflib import get_close_matches  # only mistakes need it

    found = get_close_matches(word, list(known), 1, 0.75)
    return f", did you mean {found[0]}?" if found else ""


def pages(selector: str = ALL) -> list[Path]:
    """Return the files of the rules that a selector names, by code. Raises CatalogueError if there are none."""
    files = {path.stem.partition("-")[0]: path for path in rulebook.pages()}
    named = _matching(selector, ((code, path.stem.partition("-")[2]) for code, path in files.items()))
    return [files[code] for code in named]


def _way(row: Row) -> str:
    """Return how the subject of a row of `consumer` draws."""
    kind = row.text("kind")
    return kind if kind in ("forward", "iteration") else "call"


def load() -> Catalogue:
    """Return the catalogue, with what is registered. Raises CatalogueError if a page or a table is not well formed."""
    return read(registered.in_force())


@cache
def read(rows: str) -> Catalogue:
    """Return the catalogue with these rows registered."""
    if rows:
        return read(registered.NOTHING).with_rows(rows)
    try:
        content = rulebook.content()
    except ValueError as error:
        raise CatalogueError(str(error)) from error
    rules = (_rule(folder() / name, header) for name, header in content.headers.items())
    return Catalogue({rule.code: rule for rule in rules}, content)


_HEADER_KEYS = "code name summary message why help check over severity lower least breaks default torch refs fix data"


def read_page(path: Path) -> Rule:
    """Read one page: a TOML header between `+++` lines, then Markdown. Raises CatalogueError."""
    try:
        return _rule(path, rulebook.header(path))
    except ValueError as error:
        raise CatalogueError(str(error)) from error


def _rule(page: Path, data: Mapping[str, Any]) -> Rule:
    """Return the rule of a page with this header. Raises CatalogueError."""
    unknown = data.keys() - set(_HEADER_KEYS.split())
    if unknown:
        raise CatalogueError(f"{page.name}: unknown key {min(unknown)!r}")
    try:
        return Rule(
            code=data["code"],
            name=data["name"],
            summary=data["summary"],
            message=data["message"],
            why=data["why"],
            help=data["help"],
            check=data["check"],
            over=data.get("over", "file"),
            severity=Severity(data["severity"]),
            lower=Severity(data.get("lower", data["severity"])),
            least=Severity(data.get("least", data.get("lower", data["severity"]))),
            breaks=tuple(data["breaks"]),
            default=data.get("default", True),
            torch=data.get("torch", ""),
            refs=tuple(data["refs"]),
            fix=Safety(data["fix"]) if "fix" in data else None,
            data=data.get("data", {}),
            page=page,
        )
    except (ValueError, KeyError) as error:
        raise CatalogueError(f"{page.name}: {error}") from error
