"""What torch does besides operations, reported to the session: seeds, arrays, losses, steps, loaded checkpoints."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import torch

from detlint.bisect.lines import caller
from detlint.bisect.recorded import digests, session
from detlint.bisect.recorded.parameters import Parameters
from detlint.bisect.recorded.patching import replace

_SEEDS = ("manual_seed", "seed", "set_rng_state")
_parameters = Parameters()
_installed = False


def install() -> None:
    """Watch torch, which must have been imported, and count optimizers and their steps from now on."""
    global _parameters
    _parameters = Parameters()
    for name in _SEEDS:
        hooked = functools.partial(_seeding, f"torch.{name}")
        replace(torch, name, hooked)
        if hasattr(torch.random, name):
            setattr(torch.random, name, getattr(torch, name))
    for name in ("from_numpy", "frombuffer"):
        replace(torch, name, functools.partial(_array, f"torch.{name}"))
    replace(torch, "load", _loading)
    replace(torch.Tensor, "backward", _backward)
    replace(torch.optim.Optimizer, "load_state_dict", _restoring)
    global _installed
    from torch.optim import optimizer

    if not _installed and hasattr(optimizer, "register_optimizer_step_pre_hook"):  # from torch 2.0 on
        _installed = True  # for forked processes, too
        optimizer.register_optimizer_step_pre_hook(_before_step)
        optimizer.register_optimizer_step_post_hook(_after_step)


def state() -> str:
    """Return the digest of the state of torch's generator for the CPU."""
    state = torch.default_generator.get_state()
    return digests.of_bytes(ctypes.string_at(state.data_ptr(), state.numel()))


def _seeding(function: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def seed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        held = session.active()
        if held is not None and not held.lines.is_aside(caller()):
            given = [*args, *kwargs.values()]
            text = repr(given[0])[:60] if given and function.endswith("manual_seed") else ""
            held.event("seed", "torch", caller(), (state(),), function=function, value=text)
        return result

    return seed


def _array(function: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def take(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        held = session.active()
        if held is not None and held.recording:
            held.event("array", function, caller(), (held.digest(made),), made)
        return made

    return take


def _loading(original: Callable[..., Any]) -> Callable[..., Any]:
    def load(*args: Any, **kwargs: Any) -> Any:
        held = session.active()
        if held is not None:
            source = args[0] if args else kwargs.get("f", "")
            path = held.lines.relative(str(source)) if isinstance(source, str) or hasattr(source, "__fspath__") else ""
            held.event("resume", "torch.load", caller(), (), path=path)
        return original(*args, **kwargs)

    return load


def _restoring(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = session.active()
        if held is not None:
            held.event("restore", type(self).__name__, caller())
        return original(self, *args, **kwargs)

    return load_state_dict


def _backward(original: Callable[..., Any]) -> Callable[..., Any]:
    def backward(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        held = session.active()
        if held is not None and (held.recording or held.options.level == "step"):
            held.event("loss", "", caller(), (held.digest(self),))
        return original(self, *args, **kwargs)

    return backward


def _before_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    held = session.active()
    track = held.track() if held is not None else None
    if track is not None:
        track.optimizing += 1


def _after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    held = session.active()
    track = held.track() if held is not None else None
    if held is None or track is None:
        return
    track.optimizing = max(0, track.optimizing - 1)
    if track.quiet:
        return
    number, step = _parameters.step(optimizer)
    what = type(optimizer).__name__
    frame = caller()
    with held.unseen_work():
        names = " ".join(_parameters.names(optimizer)) if step == 0 else ""
        marks = _parameters.digests(optimizer)
    if step == 0:
        held.event("parameters", what, frame, (), optimizer=number, names=names)
    if held.recording or held.options.level == "step":
        held.event("step", what, frame, marks, optimizer=number, step=step)
    if held.options.level == "op" and not held.recording and step + 1 >= held.options.from_step:
        held.recording = True
