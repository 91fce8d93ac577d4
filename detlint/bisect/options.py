"""How a run is recorded, and what is made different in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from detlint.bisect.records import Value


@dataclass(frozen=True, slots=True)
class Options:
    """What `launch.record` and the process that it starts are asked.

    What is recorded: `level` "op", or "step" for losses, parameters and batches alone; at most `max_ops` records in a
    stream (0: no bound), beginning with the step of an optimizer numbered `from_step`; with `stop`, the program ends at
    the bound. `user` has folders whose code counts as the user's own although it is installed.

    What is made different from an ordinary run: `compiling` "keep" or "eager", where torch.compile leaves the code as
    it is; `poison`, a byte that fresh memory is filled with (-1: none); `seed_torch`, `seed_numpy`, `seed_python`,
    seeds to begin with (None: none); `hash_seed`, the value of PYTHONHASHSEED (None: as it is); `threads` (0: as it
    is); `workers` of data loaders (-1: as it is); `listing` "sorted" or "reversed", the order in which folders are
    listed ("": as it is); `deterministic`, torch's deterministic algorithms, without the filling of memory.

    Values of records are written to the folder `keep_in` for each site in `keep`, or put in place of the program's own
    from the folder `repair`, which another run kept. A site is `NAME@PATH:LINE` or `STREAM:NUMBER`.

    With `steps`, the user's code is followed statement by statement; calls of functions are told whose name is the last
    part of one in `watched`.
    """

    level: str = "op"
    max_ops: int = 0
    from_step: int = 0
    stop: bool = False
    user: tuple[str, ...] = ()
    compiling: str = "keep"
    poison: int = -1
    seed_torch: int | None = None
    seed_numpy: int | None = None
    seed_python: int | None = None
    hash_seed: str | None = None
    threads: int = 0
    workers: int = -1
    listing: str = ""
    deterministic: bool = False
    keep: tuple[str, ...] = ()
    keep_in: str = ""
    repair: str = ""
    steps: bool = False
    watched: tuple[str, ...] = ()

    def plain(self) -> dict[str, Value]:
        """What differs from the defaults, as a trace's description has it."""
        made = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        made.pop("watched", None)
        return {name: " ".join(value) if isinstance(value, tuple) else value for name, value in made.items()}

    def dump(self) -> str:
        """As one argument of a process."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Options:
        """From what `dump` gave."""
        data: dict[str, Any] = json.loads(text)
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        return cls(**made)
