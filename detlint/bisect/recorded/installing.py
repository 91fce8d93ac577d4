"""The hooks that watch a process: those for Python at once, those for libraries once the program imports them."""

from __future__ import annotations

import sys
import threading
from typing import Any

from detlint.bisect.recorded import hooks_host, hooks_process, watch
from detlint.bisect.recorded.session import Session, seed_python


def install(held: Session) -> None:
    """Watch what the session records, in the process that it belongs to."""
    seed_python(held.options)
    hooks_host.install_python()
    hooks_process.install(install)
    watch.after_import("numpy", lambda: _with_numpy(held))
    watch.after_import("torch.utils.data.dataloader", _with_loaders)
    watch.after_import("torch", lambda: _with_torch(held))
    if held.options.steps:
        from detlint.bisect.following.tracing import Tracing

        held.steps = Tracing(held)
        held.steps.begin()


def leave() -> None:
    """Let this thread continue unrecorded: its session has ended."""
    recorder: Any = sys.modules.get("detlint.bisect.recorded.recorder")
    if recorder is not None:
        recorder.leave()


def _with_numpy(held: Session) -> None:
    import numpy.random

    from detlint.bisect.recorded import digests

    if held.options.seed_numpy is not None:
        numpy.random.seed(held.options.seed_numpy)
    held.began("numpy", digests.numpy_state())
    hooks_host.install_numpy()


def _with_loaders() -> None:
    from detlint.bisect.recorded import hooks_loader

    hooks_loader.install()


def _with_torch(held: Session) -> None:
    import torch

    from detlint.bisect.recorded import compiling, hooks_torch, keeping, recorder

    options = held.options
    if options.seed_torch is not None:
        torch.manual_seed(options.seed_torch)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    held.began("torch", hooks_torch.state())
    held.keeper = keeping.Keeper.of(options)
    hooks_torch.install()
    compiling.install()
    held.describe()
    if options.level == "op":
        recorder.enter()
        if threading.current_thread() is not threading.main_thread():
            held.unseen["operations of the main thread, since another one imported torch"] = None
