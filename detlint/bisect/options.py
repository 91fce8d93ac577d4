"""How a run is recorded, and what is changed in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from detlint.bisect.records import Value


@dataclass(frozen=True, slots=True)
class Options:
    """What `launch.record` and the process that it starts are asked to do.

    What is recorded: `level` is "op", or "step" for losses, parameters and batches alone. A stream has at most
    `max_ops` records (0: no limit) and begins with optimizer step `from_step`; with `stop`, the program ends at the
    limit. `user` lists folders whose code counts as the user's own although it is installed.

    What is changed from an ordinary run: `compiling` is "keep", or "eager", where torch.compile leaves the code as it
    is. `poison` is a byte that fresh memory is filled with (-1: none). `seed_torch`, `seed_numpy` and `seed_python` are
    seeds to begin with (None: none). `hash_seed` is the value of PYTHONHASHSEED (None: as it is), `threads` the number
    of threads (0: as it is), and `workers` that of data loader workers (-1: as it is). `listing` is the order in which
    folders are listed, "sorted" or "reversed" ("": as it is). `deterministic` turns on torch's deterministic
    algorithms, without the filling of memory.

    The values of records are written to the folder `keep_in` for each site in `keep`, or replaced from the folder
    `repair`, which another run kept. A site is `NAME@PATH:LINE` or `STREAM:NUMBER`.

    With `steps`, the user's code is followed statement by statement; a function call is reported if its name is the
    last part of a name in `watched`.
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
        """Return what differs from the defaults, in the form of a trace's description."""
        made = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        made.pop("watched", None)
        return {name: " ".join(value) if isinstance(value, tuple) else value for name, value in made.items()}

    def dump(self) -> str:
        """Return the options as one argument of a process."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Options:
        """Return the options that `dump` wrote."""
        data: dict[str, Any] = json.loads(text)
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        return cls(**made)
