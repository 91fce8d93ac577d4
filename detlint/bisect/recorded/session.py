"""One process while it is recorded: its threads, what was seen, how it ends."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

from detlint.bisect.lines import Key, Lines
from detlint.bisect.options import Options
from detlint.bisect.recorded import digests
from detlint.bisect.recorded.track import Track
from detlint.bisect.records import VERSION, Value
from detlint.bisect.streams import META
from detlint.bisect.writer import SUFFIX, Writer

_POOL = "pool"
_ACTIVE: Session | None = None


def active() -> Session | None:
    """Return the session of this process while it records, otherwise None."""
    return _ACTIVE


class Session:
    """A recorded process. `name` is "" for the first one; for others, it begins the names of their streams."""

    def __init__(self, folder: Path, options: Options, name: str = "", argv: Sequence[str] = (), cwd: str = "") -> None:
        global _ACTIVE
        self.folder = folder
        self.options = options
        self.name = name
        self.cwd = cwd or str(Path.cwd())
        self.lines = Lines(self.cwd, options.user)
        self.recording = options.level == "op" and options.from_step == 0
        self.seen: Counter[str] = Counter()
        self._begun: Counter[str] = Counter()
        self.unseen: dict[str, None] = {}  # an ordered set
        self.status = 0
        self.exception = ""
        self.keeper: Any = None
        self.steps: Any = None  # the `Tracing` of the user's code, if it is followed
        self._local = threading.local()
        self._hosts = {"python": digests.python_state(), "numpy": digests.numpy_state()}
        self._tracks: dict[str, Track] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._meta: dict[str, Any] = {
            "version": VERSION,
            "argv": list(argv),
            "folder": self.cwd,
            "options": options.plain(),
            "environment": {},
            "final": {},
            "start": {
                "python": digests.python_state(),
                "hash": digests.of_bytes(str(hash("detlint")).encode()),
            },
            "digest": digests.NAME,
        }
        _ACTIVE = self
        self._local.name = name or "main"
        self.track()  # a process that ends at once leaves a stream, too
        self.describe()

    # threads

    def track(self, of_torch: bool = False) -> Track | None:
        """Return the track of this thread; None if it is not recorded.

        With `of_torch`, this may be a thread of torch's own, as autograd has one for each device, and is recorded too.
        """
        try:
            found: Track | None = self._local.track
        except AttributeError:
            name = getattr(self._local, "name", None)
            if name is None and not of_torch:
                return None
            found = self._local.track = self._begin(name or self.next_started("autograd"))
        return found

    def name_thread(self, name: str) -> None:
        """Name the calling thread; it gets a stream when it does something."""
        self._local.name = name

    def end_thread(self) -> None:
        """End the stream of the calling thread, which is about to end."""
        found: Track | None = getattr(self._local, "track", None)
        if found is not None and os.getpid() == self._pid:
            self._end(found, "exit")
            self._tracks.pop(found.name, None)

    @property
    def main(self) -> Track | None:
        """The track of the thread that began; None if it has none."""
        return self._tracks.get(self.name or "main")

    def label(self, kind: str, number: int) -> str:
        """Return the name of a stream that belongs to this process."""
        return f"{self.name}.{kind}{number}" if self.name else f"{kind}{number}"

    def next_started(self, kind: str) -> str:
        """Return the name of the next thread or process that is started, and count it."""
        with self._lock:
            number = self._begun[kind]
            self._begun[kind] += 1
            if kind != _POOL:  # how many threads a pool has depends on how fast they are
                self.seen[kind] += 1
        return self.label(kind, number)

    def _begin(self, name: str) -> Track:
        with self._lock:
            if name in self._tracks:
                return self._tracks[name]
            made = Track(name, Writer(self.folder / f"{name}{SUFFIX}"), self.lines)
            self._tracks[name] = made
        return made

    # events

    def event(
        self,
        kind: str,
        what: str,
        frame: FrameType | None,
        marks: Sequence[str] = (),
        brought: Any = None,
        **data: Value,
    ) -> int:
        """Record an event of this thread, caused at `frame`; return its number, -1 if it is not recorded.

        `brought` has the tensors that came in with it: the event is recorded as their producer.
        """
        track = self.track()
        if track is None or track.quiet:
            return -1
        key: Key = self.lines.key(frame) or ()
        number = track.event(kind, what, key, marks, data)
        try:
            if brought is not None:
                self.adopt(track, brought, number)
                if self.keeper is not None:
                    with self.unseen_work():
                        self.keeper.event(track.name, number, kind, self.lines.places(key), brought)
        except Exception as error:
            self.missed(f"the values of a {kind}", error)
        self.bound(track)
        return number

    def hosts(self) -> dict[str, Value]:
        """Return the states of Python's and numpy's global generators, where they have changed since the last call.

        A generator that nobody seeds or draws from has a different state in each run, which means nothing.
        """
        now = {"python": digests.python_state(), "numpy": digests.numpy_state()}
        changed: dict[str, Value] = {key: state for key, state in now.items() if state != self._hosts.get(key, "")}
        self._hosts = now
        return changed

    def drawn(self, which: str, function: str, frame: FrameType | None, value: Any) -> None:
        """Record a draw of this thread from a generator outside torch."""
        track = self.track()
        aside = self.lines.is_aside(frame) or self.lines.is_import(frame)
        if track is not None and not track.quiet and not aside:
            track.draw(which, function, self.lines.key(frame) or (), self.digest(value).encode())

    @contextmanager
    def unseen_work(self) -> Iterator[None]:
        """Run the recorder's own work: it is neither recorded nor differentiated."""
        torch: Any = sys.modules.get("torch")
        track = self.track()
        if track is None:
            yield
            return
        track.quiet += 1
        try:
            with torch.no_grad() if hasattr(torch, "no_grad") else nullcontext():
                yield
        finally:
            track.quiet -= 1

    def digest(self, value: Any) -> str:
        """Return the digest of a value, taken without being recorded; "" if that fails."""
        try:
            with self.unseen_work():
                return digests.of_value(value)
        except Exception as error:
            self.missed("a value", error)
            return ""

    def adopt(self, track: Track, value: Any, number: int) -> None:
        """Record that the tensors in a value came with record `number`."""
        import torch

        stack = [value]
        while stack:
            one = stack.pop()
            if isinstance(one, torch.Tensor):
                track.storages.wrote(one, number, fresh=True)
            elif isinstance(one, dict):
                stack += one.values()
            elif isinstance(one, (list, tuple)):
                stack += one

    def missed(self, what: str, error: Exception) -> None:
        """Note that something could not be recorded."""
        self.unseen[f"{what}: {type(error).__name__}"] = None

    def bound(self, track: Track) -> None:
        """Stop recording a thread that has as many records as were asked for."""
        limit = self.options.max_ops
        if limit and track.writer.number >= limit and not track.quiet:
            track.quiet += 1
            self._end(track, "bound")
            if self.options.stop and track.name == (self.name or "main"):
                self.finish("bound")
                sys.stdout.flush()
                os._exit(0)

    # the end

    def finish(self, reason: str = "") -> None:
        """Write the ends of all streams. Only the process that began the session does so."""
        global _ACTIVE
        if _ACTIVE is not self or os.getpid() != self._pid:
            return
        self.recording = False
        _ACTIVE = None
        self.describe(final=True)
        for track in list(self._tracks.values()):
            self._end(track, reason or ("exception" if self.exception else "exit"))

    def ended(self, error: BaseException) -> None:
        """Record what ended the program."""
        if isinstance(error, SystemExit):
            self.status = error.code if isinstance(error.code, int) else int(error.code is not None)
            return
        self.status = 130 if isinstance(error, KeyboardInterrupt) else 1
        self.exception = f"{type(error).__name__}: {error}".partition("\n")[0][:300]

    def forget(self) -> None:
        """Discard everything: this process was forked from the one that the session belongs to."""
        global _ACTIVE
        _ACTIVE = None
        self.recording = False
        for track in self._tracks.values():
            track.quiet += 1
            track.writer.abandon()
        if self.steps is not None:
            self.steps.abandon()

    def describe(self, final: bool = False) -> None:
        """Write the description of the run, as far as it is known. Only the first process or rank 0 does so."""
        from detlint.bisect.recorded import fingerprint

        if "torch" in sys.modules:
            self._meta["final" if final else "environment"] = fingerprint.take()
        if self.name in ("", "rank0"):
            partial = self.folder / f"{META}.{os.getpid()}"
            partial.write_text(json.dumps(self._meta, indent=1), encoding="utf-8")
            partial.replace(self.folder / META)

    def began(self, library: str, state: str) -> None:
        """Record the first state of a library's generator."""
        self._hosts[library] = state
        self._meta["start"][library] = state

    def _end(self, track: Track, reason: str) -> None:
        if self.steps is not None:
            self.steps.end(track.name)
        track.end(
            {
                "reason": reason,
                "status": self.status,
                "exception": self.exception,
                "seen": dict(self.seen) if track is self.main else {},
                "unseen": list(self.unseen) if track is self.main else [],
                "loaded": self.lines.loaded() if track is self.main else [],
            }
        )


def seed_python(options: Options) -> None:
    """Seed Python's generator if the options ask for it."""
    if options.seed_python is not None:
        random.seed(options.seed_python)
