"""What settings say about functions that detlint does not know, checked and turned into rows of the tables of facts.

A project describes its own functions, or those of a library: `[[tool.detlint.seeds]]`, `draws` and `ordered` are rows
in the form of `rules/facts/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from detlint.catalogue import nearest
from detlint.generators import COMPILED, GENERATORS, SEEDABLE
from detlint.registered import Tables, written

KEYS = {  # by setting: the keys of a row, and the kind of value of each
    "seeds": {"names": "names", "seeds": "seeded", "parameter": "word", "none": "none", "restores": "flag",
              "signature": "signature"},
    "draws": {"names": "names", "generator": "drawn", "parameter": "word", "kind": "kind", "when": "conditions",
              "unless": "conditions", "signature": "signature"},
    "ordered": {"names": "names"},
}  # fmt: skip
_SEEDED = (*(name for name in SEEDABLE if name not in COMPILED.values()), "cuda")
_KINDS = {"call": (), "forward": ("forward", "__call__"), "iteration": ("__iter__",)}  # with the methods that draw
_NONE = ("raises", "default", "nothing")
_NAME = re.compile(r"\w+(\.\w+)+")
_CONDITION = re.compile(r"!?\w+|\w+!?=[^|]+(\|[^|]+)*")
Row = dict[str, Any]


def rows(settings: Mapping[str, object]) -> str:
    """Return what these settings register, in the form of `registered.written`. Raises ValueError if a row is wrong."""
    tables: Tables = {}
    signatures: dict[str, str] = {}
    for setting, keys in KEYS.items():
        given = settings.get(setting, [])
        if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
            raise ValueError(f"{setting} must be an array of tables, such as [[tool.detlint.{setting}]]")
        for number, row in enumerate(given, 1):
            where = f"{setting}[{number}]"
            _check(where, row, keys)
            if "signature" in row:
                signatures |= dict.fromkeys(row["names"], row["signature"])
            for file, table, made in _MADE[setting](where, row):
                tables.setdefault(file, {}).setdefault(table, []).append({"registered": "yes", **made})
    return written(tables, signatures)


def _check(where: str, row: Row, keys: Mapping[str, str]) -> None:
    for key, value in row.items():
        if key not in keys:
            raise ValueError(f"{where}: unknown key {key!r}{nearest(key, keys)}; known are {', '.join(keys)}")
        wanted, fits = _KINDS_OF_VALUE[keys[key]]
        if not fits(value):
            raise ValueError(f"{where}: {key} must be {wanted}, not {value!r}")
    if "names" not in row:
        raise ValueError(f'{where}: names is missing: a list of qualified names, such as ["acme.utils.fix_seeds"]')


# Rows


def _seeds(where: str, row: Row) -> list[tuple[str, str, Row]]:
    if "seeds" not in row:
        raise ValueError(f'{where}: seeds is missing: the generators that are seeded, such as ["torch"]; [] for none')
    made = {"id": where, "names": row["names"], "seeds": row["seeds"]}
    made |= {key: row[key] for key in ("parameter", "none") if key in row}
    return [("randomness", "seeder", made | ({"restores": "yes"} if row.get("restores") else {}))]


def _draws(where: str, row: Row) -> list[tuple[str, str, Row]]:
    generators = [row["generator"]] if isinstance(row.get("generator"), str) else row.get("generator", [])
    made = {"id": where, "names": row["names"]} | {key: row[key] for key in ("when", "unless") if key in row}
    if "parameter" in row:
        if "kind" in row:
            raise ValueError(f"{where}: kind does not go with parameter: what takes a seed draws when it is called")
        return [("libraries", "draw", made | {"parameter": row["parameter"], "generators": generators})]
    if not generators:
        raise ValueError(f"{where}: generator or parameter is missing: what is drawn from, or what takes the seed")
    kind = row.get("kind", "call")
    drawn = [("randomness", "consumer", made | {"kind": kind, "generator": row["generator"]})]
    if _KINDS[kind]:  # methods are followed if the class is the project's
        names = [f"{name}.{method}" for name in row["names"] for method in _KINDS[kind]]
        methods = {**drawn[0][2], "id": f"{where}.methods", "names": names, "kind": "call"}
        drawn.append(("randomness", "consumer", methods))
    return drawn


def _ordered(_: str, row: Row) -> list[tuple[str, str, Row]]:
    return [("order", "use", {"id": "sorted", "kind": "free", "names": row["names"]})]


_MADE = {"seeds": _seeds, "draws": _draws, "ordered": _ordered}


# Values


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _all(fits: Callable[[str], object]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(each, str) and fits(each) for each in value)


def _some(fits: Callable[[str], object]) -> Callable[[object], bool]:
    return lambda value: bool(value) and _all(fits)(value)


def _is_signature(value: object) -> bool:
    import ast  # few settings need it

    try:
        body = ast.parse(f"def f({value}): pass").body if isinstance(value, str) else []
    except (SyntaxError, ValueError):
        return False
    return len(body) == 1 and isinstance(body[0], ast.FunctionDef)


def _one_of(*words: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in words


_KINDS_OF_VALUE: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "names": (
        'a list of qualified names, such as ["acme.utils.fix_seeds"]',
        _some(_NAME.fullmatch),
    ),
    "seeded": (f"a list of generators, each {_either(_SEEDED)}", _all(_one_of(*_SEEDED))),
    "drawn": (
        f"{_either(GENERATORS)}, or a list of several",
        lambda value: _one_of(*GENERATORS)(value) or _some(_one_of(*GENERATORS))(value),
    ),
    "word": ("the name of a parameter", lambda v: isinstance(v, str) and v.isidentifier()),
    "none": (_either(_NONE), _one_of(*_NONE)),
    "kind": (_either([*_KINDS]), _one_of(*_KINDS)),
    "flag": ("true or false", lambda v: isinstance(v, bool)),
    "conditions": ('a list of conditions, such as ["shuffle=True"] or ["seed"]', _all(_CONDITION.fullmatch)),
    "signature": ('what stands between the parentheses of a def, such as "seed, strict=False"', _is_signature),
}
