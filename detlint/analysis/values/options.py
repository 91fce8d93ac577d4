"""Command-line options that one file declares."""

from __future__ import annotations

from detlint.analysis.values.parsers import OPTIONS, methods
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def is_number_option(module: Module, name: str) -> bool:
    """Return whether all options of this name that the file declares are numbers, or lists of numbers."""
    found = [call for call in module.calls_like(words=methods(OPTIONS)) if name in _names(call)]
    return bool(found) and all(_gives_number(module, call) for call in found)


def _names(call: s.Call) -> set[str]:
    """Return the attributes in which the value of an option may be found."""
    texts = [literal(argument.value) for argument in call.arguments if argument.keyword in (None, "dest")]
    return {text.lstrip("-").replace("-", "_") for text in texts if isinstance(text, str)}


def _gives_number(module: Module, call: s.Call) -> bool:
    types = [module.names(argument.value) for argument in call.arguments if argument.keyword == "type"]
    numbers = module.python("types", "plain") - module.python("types", "joined-by")
    return any(names and names <= numbers for names in types)
