"""Batches of data loaders, reported to the session."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from detlint.bisect.lines import caller
from detlint.bisect.recorded import session
from detlint.bisect.recorded.patching import replace

_NUMBER = "_detlint_number"
_INDEX = "_detlint_index"


def install() -> None:
    """Watch data loaders; `torch.utils.data.dataloader` must have been imported."""
    from torch.utils.data import dataloader

    replace(dataloader.DataLoader, "__init__", _made)
    replace(dataloader._BaseDataLoaderIter, "__init__", _begun)
    replace(dataloader._BaseDataLoaderIter, "__next__", _next)
    replace(dataloader._MultiProcessingDataLoaderIter, "_try_get_data", _received)
    replace(dataloader.DataLoader, "__iter__", _iterated)


def _made(original: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        held = session.active()
        if held is not None and held.options.workers >= 0:
            bound = signature.bind(self, *args, **kwargs)
            bound.arguments["num_workers"] = held.options.workers
            if held.options.workers == 0:
                for name in ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
                    bound.arguments.pop(name, None)
            original(*bound.args, **bound.kwargs)
            return
        original(self, *args, **kwargs)

    return __init__


def _begun(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        held = session.active()
        if held is not None:
            setattr(self, _NUMBER, held.seen["loader"])
            held.seen["loader"] += 1
        original(self, *args, **kwargs)

    return __init__


def _iterated(original: Callable[..., Any]) -> Callable[..., Any]:
    def __iter__(self: Any) -> Any:  # noqa: N807
        from detlint.bisect.recorded.hooks_torch import state

        held = session.active()
        before = state() if held is not None else ""
        made = original(self)
        if held is not None:
            setattr(made, _INDEX, 0)
            held.event(
                "iterator",
                type(self).__name__,
                caller(),
                (),
                loader=getattr(made, _NUMBER, -1),
                workers=self.num_workers,
                base_seed=str(getattr(made, "_base_seed", "")),
                state=before if self.generator is None else "",
                **held.hosts(),
            )
        return made

    return __iter__


def _next(original: Callable[..., Any]) -> Callable[..., Any]:
    def __next__(self: Any) -> Any:  # noqa: N807
        batch = original(self)
        held = session.active()
        if held is not None and (held.recording or held.options.level == "step"):
            index = getattr(self, _INDEX, 0)
            setattr(self, _INDEX, index + 1)
            held.event(
                "batch",
                type(self).__name__,
                caller(),
                (held.digest(batch),),
                batch if self._num_workers else None,
                loader=getattr(self, _NUMBER, -1),
                index=index,
                workers=self._num_workers,
                **held.hosts(),
            )
        return batch

    return __next__


def _received(original: Callable[..., Any]) -> Callable[..., Any]:
    """Leave unrecorded what workers send: it is put together here as it arrives, in no fixed order."""

    def _try_get_data(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = session.active()
        track = held.track() if held is not None else None
        if track is None:
            return original(self, *args, **kwargs)
        track.quiet += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            track.quiet -= 1

    return _try_get_data
