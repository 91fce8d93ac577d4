"""Calls whose arguments are for people to read."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.tree import syntax as s


def is_message(module: Module, call: s.Call) -> bool:
    """Return whether the arguments of a call are for people to read: it prints, logs or makes an exception."""
    names = module.callee(call)
    if names & module.catalogue.names("order", "message"):
        return True
    if any(name.endswith(("Error", "Exception", "Warning")) for name in names):
        return True
    methods = module.catalogue.names("order", "message", "methods")
    return isinstance(call.function, s.Attribute) and call.function.attribute in methods
