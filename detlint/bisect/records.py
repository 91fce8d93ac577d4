"""What a trace says: the records of a stream and the description of a run. Pure data, without torch.

A trace is a directory. `meta.json` describes the run (`Meta`). Each `NAME.jsonl.gz` is a stream: what one thread of one
process did, in order. `main` is the thread that began; the others are named by who began them and in which order:

    main  thread0  pool0  loader0.worker1  process0  process0.thread1  rank0  rank0.loader1.worker0  autograd0

Which thread of a pool does which task depends on time, as does how many there are: streams named `pool` may differ
between like runs.

Records are numbered from 0 in their stream, operations and events together. Two runs in which nothing differs give
streams that are equal byte for byte once decompressed: nothing of what they hold depends on time, addresses or process
ids. `streams.py` reads and writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TypeAlias

VERSION = 1
Value: TypeAlias = "str | int | float | bool | None"
COLLECTIVES = frozenset(("c10d", "_c10d_functional", "c10d_functional"))  # namespaces of what ranks carry out together


class Flag(IntFlag):
    """What is known of an input beside its content."""

    NONE = 0
    WRITE_ONLY = 1  # overwritten without being read: it has no digest
    SCALAR = 2  # a tensor without dimensions in the memory of the host
    UNINITIALISED = 4  # part of its storage may never have been written; `allocation` says by which record it was made
    HOST = 8  # no operation made it: what no record or an event (a batch, an array) is the producer of
    GENERATOR = 16  # a generator given to the operation: the digest is that of its state
    MUTATED = 32  # read and then written in place
    LIST = 64  # many tensors in one: digests and producers folded, `fold` for the producers
    VIEWED = 128  # only viewed, not read: it has no digest


class Draw(IntFlag):
    """Whether an operation draws random numbers."""

    NO = 0
    TAGGED = 1  # the operation may draw, by what torch says of it
    SEEN = 2  # the state of the default generator was another one afterwards


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the user's code. `path` is relative to the folder of the run where it lies in there.

    `line` counts from 1; `cell` is the number of a notebook's cell, from 0, in which `line` then counts.
    """

    path: str
    line: int
    function: str = ""
    cell: int | None = None

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"[{self.cell}]"
        return f"{self.path}{cell}:{self.line}"


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that an operation was given, or a generator.

    `digest` has 16 hexadecimal digits, and is "" where the content is not read. `producer` is the number of the last
    record of the stream that wrote to the storage, -1 where there is none. `allocation` is the number of the record
    that allocated a storage of which not all is known to have been written (UNINITIALISED), else -1. `fold` stands for
    the producers of a long list of tensors (LIST), else 0.
    """

    digest: str
    producer: int = -1
    flags: Flag = Flag.NONE
    allocation: int = -1
    fold: int = 0


@dataclass(frozen=True, slots=True)
class Op:
    """An operation, as torch's dispatcher saw it.

    `name` is like `aten.index_put.default`. `stack` has the lines of the user's code that led here, innermost first, at
    most 8. `phase` is "forward", "backward" or "optimizer"; in "backward", `node` names the step of autograd, like
    `IndexBackward0`, and `stack` is that of the forward operation which it belongs to, as far as that is known.

    `outputs` has a digest for each tensor that was made or written: "" for views, for fresh memory without content and
    for memory that still holds some; "=VALUE" for results that are no tensors, as of `.item()`.
    `scalars` is the text of all other arguments. `signature` has dtypes, shapes, strides and devices: of the inputs,
    " -> ", of the outputs. `state` is the digest of the default CPU generator's state before an operation that draws,
    `device_state` that of its device's generator; they are "" for operations that do not, and for those that are given
    a generator, which is an input.
    """

    number: int
    name: str
    stack: tuple[Line, ...] = ()
    phase: str = "forward"
    node: str = ""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    scalars: str = ""
    signature: str = ""
    draw: Draw = Draw.NO
    state: str = ""
    device_state: str = ""

    @property
    def line(self) -> Line | None:
        """The innermost line of the user's code."""
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class Event:
    """Something beside operations that may tell why two runs differ. `data` by kind; states and orders are digests:

    kind        what                      digests            data
    seed        torch, numpy, python      state afterwards   function, value (text; "" where none was given)
    generator   torch.Generator (*) ...   state              seeded (bool), value (the seed, of torch.Generator)
    draw        numpy, python             values, folded     function, count: draws in a row at one line are one event
    array       torch.from_numpy ...      content
    iterator    the loader's class        -                  loader (number), workers, base_seed, state; hosts (**)
    batch       the loader's class        content            loader, index, workers; hosts (**)
    listing     os.listdir, glob.glob ... order, names       path, count
    loss        -                         value              -           where `.backward()` is called
    step        the optimizer's class     of parameters (***)optimizer (number), step
    parameters  the optimizer's class     -                  optimizer, names (one text, parted by spaces)
    thread      the stream's name         -                  -           where it was begun
    process     the stream's name         -                  -
    compile     torch.compile             -                  kept (bool: False if the code runs as written instead)
    compiled    the function              inputs, outputs    -           a call of compiled code
    resume      torch.load ...            -                  path
    restore     the optimizer's class     -                  -           where an optimizer's state is loaded

    (*) Or numpy.random.default_rng or random.Random, where one is made; of torch.Generator, where an operation is
    given one with another seed than the last one at its line. (**) `python`, `numpy`: the states of the global
    generators, where they are others than when they were last told. (***) One each in the order of `parameters`; the
    last one stands for all that are left where there are very many.
    """

    number: int
    kind: str
    what: str = ""
    stack: tuple[Line, ...] = ()
    digests: tuple[str, ...] = ()
    data: Mapping[str, Value] = field(default_factory=dict)

    @property
    def line(self) -> Line | None:
        """The innermost line of the user's code."""
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class End:
    """How a stream ended. A stream without one was cut off: the process was killed.

    `reason` is "exit", "exception", "bound" (as many records as were asked for) or "signal". `status` is the exit
    status of the process, `exception` its type and message. In the stream that a process began with, `seen`
    counts what was recorded (threads, processes, loaders, compiled code), `unseen` says in words what could not be, and
    `loaded` has the files of the user's code that the process had loaded, paths as in `Line`; in older traces, none.
    """

    number: int
    reason: str = "exit"
    status: int = 0
    exception: str = ""
    seen: Mapping[str, int] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


Record: TypeAlias = "Op | Event | End"


@dataclass(frozen=True, slots=True)
class Meta:
    """The description of a run.

    `environment` is what may make two runs differ from outside (versions, threads, switches, variables; see
    `fingerprint.py`), as it was when torch had been imported, and `final` as it was at the end ({} if it was killed).
    `start` has the digests of the generators' states when they came to be: torch, numpy, python, and `hash`.
    `digest` names the way digests are made: those of two ways cannot be compared.
    """

    argv: tuple[str, ...] = ()
    folder: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    version: int = VERSION
