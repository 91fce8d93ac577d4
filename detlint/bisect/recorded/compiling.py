"""Calls of code that torch.compile made, reported to the session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from detlint.bisect.lines import caller
from detlint.bisect.recorded import recorder, session
from detlint.bisect.recorded.patching import replace


def install() -> None:
    """Watch torch.compile."""
    replace(torch, "compile", _compile)


def _compile(original: Callable[..., Any]) -> Callable[..., Any]:
    def compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
        held = session.active()
        if held is None or model is None:  # a decorator with options: called again with the function
            made = original(model, *args, **kwargs)
            return made if model is not None else lambda function: compile(function, *args, **kwargs)
        kept = held.options.compiling == "keep"
        held.event("compile", _name(model), caller(), (), kept=kept)
        if not kept:
            return original(model, *args, **kwargs)  # TORCHDYNAMO_DISABLE is set: the code runs as written
        held.seen["compiled"] += 1
        held.unseen["operations within compiled code"] = None
        recorder.hide_from_compiler()
        made = original(model, *args, **kwargs)
        if isinstance(made, torch.nn.Module):
            made.__dict__["forward"] = _called(_name(model), made.forward)
            return made
        return functools.wraps(made)(_called(_name(model), made))

    return compile


def _called(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        held = session.active()
        track = held.track() if held is not None else None
        if held is not None and held.recording and track is not None and not torch.compiler.is_compiling():
            marks = held.digest((args, kwargs)), held.digest(result)
            held.event("compiled", name, caller(), marks, result)
        return result

    return call


def _name(model: Any) -> str:
    return getattr(model, "__qualname__", None) or type(model).__qualname__
