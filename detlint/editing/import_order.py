"""The order that isort's default profile, and ruff's `I`, gives to imports and to the names in one."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection

FUTURE, STANDARD, THIRD_PARTY, FIRST_PARTY, LOCAL = range(5)
_STANDARD = frozenset(sys.stdlib_module_names)
Key = tuple[object, ...]


def section(module: str, first_party: Collection[str]) -> int:
    """Return the section of a module, whose leading dots make it local; `first_party` are top-level names."""
    root = module.partition(".")[0]
    if module == "__future__":
        return FUTURE
    if not root:
        return LOCAL
    if root in first_party:
        return FIRST_PARTY
    return STANDARD if root in _STANDARD else THIRD_PARTY


def statement_key(module: str, names: Collection[str] | None, first_party: Collection[str]) -> Key:
    """Return the sort key of a statement: `import module` or, with `names`, `from module import names`."""
    dots = len(module) - len(module.lstrip("."))
    first = min(map(name_key, names)) if names else ()
    return section(module, first_party), names is not None, -dots, _natural(module.lower()), _natural(module), first


def name_key(name: str) -> Key:
    """Return the sort key of a name in `from module import ...`: constants, then classes, then the rest."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    return kind, _natural(name.lower()), _natural(name)


def _natural(text: str) -> tuple[object, ...]:
    """Return a sort key in which digits count as numbers."""
    return tuple(int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", text)))
