"""The user's code followed in a process, by `sys.monitoring` where it exists, otherwise by `sys.settrace`.

Audit events report what a step asks for from outside (files, folders, networks, processes), no matter who raises them.
"""

from __future__ import annotations

import dis
import hashlib
import os
import stat
import sys
import sysconfig
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from detlint.bisect.following.follower import SUFFIX, Follower

if TYPE_CHECKING:
    from detlint.bisect.recorded.session import Session

_PASSED = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))  # they belong to the statement around them
_AUDITED = frozenset(
    "os.listdir os.scandir socket.connect socket.getaddrinfo socket.gethostbyname socket.gethostname "
    "urllib.Request subprocess.Popen os.system os.posix_spawn".split()
)
_YIELD, _RESUME = dis.opmap.get("YIELD_VALUE", -1), dis.opmap.get("RESUME", -1)
_LARGEST = 1 << 24  # bytes; the content of a larger file is not read
_MOST_FILES = 400
_INSTALLED = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *("/proc/", "/sys/", "/dev/"),
)
_ACTIVE: Tracing | None = None
_audited = False


class Tracing:
    """The followed threads of a process."""

    def __init__(self, held: Session) -> None:
        global _ACTIVE
        self._held = held
        self._names = frozenset(name.rpartition(".")[2] for name in held.options.watched)
        self._local = threading.local()
        self._followers: dict[str, Follower] = {}
        self._files = 0
        _ACTIVE = self

    def begin(self) -> None:
        """Follow this thread from now on."""
        track = self._held.track()
        if track is None or track.name in self._followers:
            return
        path = self._held.folder / f"{track.name}{SUFFIX}"
        writer = track.writer
        made = Follower(path, self._held.lines.file, lambda: writer.number, self._names)
        self._followers[track.name] = self._local.follower = made
        _audit()
        if hasattr(sys, "monitoring"):
            _monitor(self)
        else:
            sys.settrace(self._call)

    def end(self, name: str) -> None:
        """Stop following the thread whose stream has this name."""
        found = self._followers.get(name)
        if found is not None:
            found.stop()
            if found is getattr(self._local, "follower", None) and not hasattr(sys, "monitoring"):
                sys.settrace(None)

    def abandon(self) -> None:
        """Stop following in this process, which was forked from the one that is followed."""
        global _ACTIVE
        _ACTIVE = None
        if not hasattr(sys, "monitoring"):
            sys.settrace(None)
        sys.setprofile(None)
        for one in self._followers.values():
            one.abandon()

    @property
    def follower(self) -> Follower | None:
        """The follower of this thread; None if there is none."""
        found: Follower | None = getattr(self._local, "follower", None)
        return found if found is not None and not found.done else None

    def is_followed(self, frame: FrameType) -> bool:
        """Return whether a frame is followed: the user's are, except those that are part of another's statement."""
        return self._held.lines.is_user(frame) and frame.f_code.co_name not in _PASSED

    # by sys.settrace

    def _call(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        follower = self.follower
        if follower is None:
            sys.settrace(None)
            return None
        if not self.is_followed(frame):
            return None
        follower.enter(frame, not _is_new(frame))
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        follower = self.follower
        if follower is None:
            return None
        if event == "line":
            follower.line(frame, frame.f_lineno)
        elif event == "return":
            follower.leave(frame, arg, _is_yield(frame))
        elif event == "exception":
            follower.raised(frame, arg[0].__name__)
        return self._step

    # from outside

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Record an audit event of Python for the followed step."""
        follower = self.follower
        if follower is None or getattr(self._local, "auditing", False):
            return
        self._local.auditing = True
        try:
            if event == "open":
                self._open(follower, *args)
            else:
                follower.asked(event, str(args[0])[:200] if args else "")
        finally:
            self._local.auditing = False

    def _open(self, follower: Follower, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(path, (str, bytes)) or self._files >= _MOST_FILES:
            return
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if name.startswith((*_INSTALLED, str(self._held.folder))) or name.endswith((".pyc", ".py")) or writes:
            return
        self._files += 1
        follower.asked("file", f"{_content(name)} {name}")


def _content(name: str) -> str:
    """Return a digest of a file's content; its size if it is over 16 MiB, "none" if it cannot be read."""
    try:
        status = os.stat(name)  # noqa: PTH116
        if not stat.S_ISREG(status.st_mode):
            return "-"
        if status.st_size > _LARGEST:
            return str(status.st_size)
        with open(name, "rb") as file:  # noqa: PTH123
            return hashlib.blake2b(file.read(), digest_size=8).hexdigest()
    except OSError:
        return "none"


def _is_new(frame: FrameType) -> bool:
    """Return whether a frame begins, rather than resumes after a yield."""
    if not frame.f_code.co_flags & 0x2A0 or frame.f_lasti < 0:
        return True
    code = frame.f_code.co_code
    return code[frame.f_lasti] == _RESUME and code[frame.f_lasti + 1] & 3 == 0


def _is_yield(frame: FrameType) -> bool:
    """Return whether a frame that gives a value will resume later."""
    return bool(frame.f_code.co_flags & 0x2A0) and frame.f_code.co_code[frame.f_lasti] == _YIELD


def _audit() -> None:
    """Add the audit hook, once per process: Python cannot remove it."""
    global _audited
    if _audited:
        return
    _audited = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if _ACTIVE is not None and (event == "open" or event in _AUDITED):
            _ACTIVE.audit(event, args)

    sys.addaudithook(hook)


# By sys.monitoring, which covers all threads: of library code, only the first start is reported


def _monitor(tracing: Tracing) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    tool = next((one for one in (4, 3, 1, 0) if monitoring.get_tool(one) in (None, "detlint")), None)
    if tool is None or monitoring.get_tool(tool) == "detlint":
        return
    monitoring.use_tool_id(tool, "detlint")
    events = monitoring.events
    own = events.LINE | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME | events.PY_START

    def following() -> Follower | None:
        return _ACTIVE.follower if _ACTIVE is not None else None

    def start(code: CodeType, offset: int) -> Any:
        frame = sys._getframe(1)
        if _ACTIVE is None or not tracing.is_followed(frame):
            return monitoring.DISABLE
        monitoring.set_local_events(tool, code, own)
        if (follower := following()) is not None:
            follower.enter(frame)
        return None

    def resume(code: CodeType, offset: int) -> None:
        if (follower := following()) is not None:
            follower.enter(sys._getframe(1), True)

    def line(code: CodeType, number: int) -> None:
        if (follower := following()) is not None:
            follower.line(sys._getframe(1), number)

    def leave(code: CodeType, offset: int, value: Any) -> None:
        if (follower := following()) is not None:
            follower.leave(sys._getframe(1), value)

    def give(code: CodeType, offset: int, value: Any) -> None:
        if (follower := following()) is not None:
            follower.leave(sys._getframe(1), value, True)

    def unwind(code: CodeType, offset: int, error: BaseException) -> None:
        frame = sys._getframe(1)
        follower = following()
        if follower is not None and tracing.is_followed(frame):
            follower.raised(frame, type(error).__name__)
            follower.leave(frame, None)

    callbacks = {"PY_START": start, "PY_RESUME": resume, "LINE": line, "PY_RETURN": leave}
    for name, function in {**callbacks, "PY_YIELD": give, "PY_UNWIND": unwind}.items():
        monitoring.register_callback(tool, getattr(events, name), function)
    monitoring.set_events(tool, events.PY_START | events.PY_UNWIND)
