"""What a trace contains: the records of its streams, and the description of a run. Pure data, without torch.

A trace is a directory. `meta.json` describes the run (`Meta`). Each `NAME.jsonl.gz` is a stream: what one thread of one
process did, in order. `main` is the thread that began; the others are named by what started them and in which order:

    main  thread0  pool0  loader0.worker1  process0  process0.thread1  rank0  rank0.loader1.worker0  autograd0

Timing decides which thread of a pool does which task, and how many threads there are: streams named `pool` may differ
between equal runs.

Records are numbered from 0 in their stream, operations and events together. Two runs in which nothing differs give
streams that are equal byte for byte once decompressed: nothing in them depends on time, addresses or process ids.
`writer.py` writes them, and `streams.py` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TypeAlias

VERSION = 1
Value: TypeAlias = "str | int | float | bool | None"
COLLECTIVES = frozenset(("c10d", "_c10d_functional", "c10d_functional"))  # namespaces of operations of several ranks


class Flag(IntFlag):
    """What is known of an input besides its content."""

    NONE = 0
    WRITE_ONLY = 1  # overwritten without being read: it has no digest
    SCALAR = 2  # a tensor without dimensions, in host memory
    UNINITIALISED = 4  # part of its storage may be unwritten; `allocation` is the record that allocated it
    HOST = 8  # no record of the stream made it
    GENERATOR = 16  # a generator given to the operation: the digest is that of its state
    MUTATED = 32  # read and then written in place
    LIST = 64  # many tensors as one input: their digests are folded, and their producers into `fold`
    VIEWED = 128  # only viewed, not read: it has no digest


class Draw(IntFlag):
    """Whether an operation draws random numbers."""

    NO = 0
    TAGGED = 1  # torch says that the operation may draw
    SEEN = 2  # the state of the default generator had changed afterwards


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the user's code. `path` is relative to the folder of the run if it lies inside.

    `line` counts from 1. In a notebook, `cell` is the number of the cell, from 0, and `line` counts within it.
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

    `digest` has 16 hexadecimal digits, and is "" if the content is not read. `producer` is the number of the last
    record of the stream that wrote to the storage, -1 if there is none. `allocation` is the number of the record that
    allocated a storage that may be partly unwritten (UNINITIALISED), otherwise -1. `fold` stands for the producers of a
    long list of tensors (LIST), otherwise 0.
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
    most 8. `phase` is "forward", "backward" or "optimizer". In "backward", `node` names the step of autograd, like
    `IndexBackward0`, and `stack` is that of the forward operation it belongs to, as far as that is known.

    `outputs` has a digest for each tensor that was made or written. It is "" for views, for fresh memory without
    content, and for memory that still has such parts. Results that are not tensors, as of `.item()`, are "=VALUE".
    `scalars` is the text of all other arguments. `signature` has the dtypes, shapes, strides and devices of the inputs,
    " -> ", and those of the outputs. `state` is the digest of the default CPU generator's state before an operation
    that draws, `device_state` that of its device's generator. They are "" for operations that do not draw, and for
    those that are given a generator, which is an input.
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
        """The innermost line of the user's code; None if there is none."""
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class Event:
    """An event besides operations that may explain why two runs differ. `data` by kind; states and orders are digests:

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
    parameters  the optimizer's class     -                  optimizer, names (one text, separated by spaces)
    thread      the stream's name         -                  -           where it was started
    process     the stream's name         -                  -
    compile     torch.compile             -                  kept (bool: False if the code runs as written instead)
    compiled    the function              inputs, outputs    -           a call of compiled code
    resume      torch.load ...            -                  path
    restore     the optimizer's class     -                  -           where an optimizer's state is loaded

    (*) Or numpy.random.default_rng or random.Random, where one is made. Of torch.Generator, where an operation is
    given one with another seed than the last one at its line. (**) `python`, `numpy`: the states of the global
    generators, if they changed since they were last recorded. (***) One each in the order of `parameters`; if there
    are very many, the last one stands for all the rest.
    """

    number: int
    kind: str
    what: str = ""
    stack: tuple[Line, ...] = ()
    digests: tuple[str, ...] = ()
    data: Mapping[str, Value] = field(default_factory=dict)

    @property
    def line(self) -> Line | None:
        """The innermost line of the user's code; None if there is none."""
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class End:
    """How a stream ended. A stream without an end was cut off: the process was killed.

    `reason` is "exit", "exception", "bound" (as many records as were asked for) or "signal". `status` is the exit
    status of the process, `exception` the exception's type and message. In the stream that a process began with, `seen`
    counts what was recorded (threads, processes, loaders, compiled code), `unseen` says in words what could not be
    recorded, and `loaded` lists the files of the user's code that the process had loaded, with paths as in `Line`; it
    is empty in older traces.
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
    `fingerprint.py`), taken when torch had been imported; `final` is the same at the end ({} if the process was
    killed). `start` has the digests of the initial states of the generators (torch, numpy, python), and `hash`.
    `digest` names the method by which digests are made: those of two methods cannot be compared.
    """

    argv: tuple[str, ...] = ()
    folder: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    version: int = VERSION
