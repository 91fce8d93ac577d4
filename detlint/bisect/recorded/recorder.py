"""The recorder: a dispatch mode that records what each operation was given and what it made."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from detlint.bisect.lines import Key
from detlint.bisect.recorded import digests, session
from detlint.bisect.recorded.operations import Operation, read
from detlint.bisect.recorded.session import Session
from detlint.bisect.recorded.signatures import Signature, arguments_text
from detlint.bisect.recorded.track import Track
from detlint.bisect.records import Draw, Flag, Value
from detlint.bisect.writer import given

# plain numbers, since the operators of IntFlag would take longer than everything else done with them
_WRITE_ONLY, _MUTATED, _VIEWED = int(Flag.WRITE_ONLY), int(Flag.MUTATED), int(Flag.VIEWED)
_SCALAR, _HOST, _LIST = int(Flag.SCALAR), int(Flag.HOST), int(Flag.LIST)
_UNINITIALISED, _GENERATOR = int(Flag.UNINITIALISED), int(Flag.GENERATOR)
_WRITTEN, _UNREAD = _MUTATED | _WRITE_ONLY, _WRITE_ONLY | _VIEWED
_FORWARD, _BACKWARD, _OPTIMIZER = range(3)
_MOST_INPUTS = 8  # tensors of a list that are recorded one by one
_LONGEST_VALUE = 100
_UNSEEDED = 67280421310721  # the initial seed of torch.Generator(), the same in each process
_operations: dict[Any, Operation] = {}
# private to torch; they alone give the lines of backward operations, which otherwise get that of `.backward()`
_current_node: Callable[[], Any] = getattr(torch._C, "_current_autograd_node", lambda: None)
_next_sequence: Callable[[], int] = getattr(torch._C._autograd, "_get_sequence_nr", lambda: 0)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that records the operations of this thread while the process has a session."""

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Keep compiled code compiled: only its calls are recorded."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise every operation would pass through torch._dynamo; see `compiling.py`

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        held = session.active()
        track = held.track(of_torch=True) if held is not None and held.recording else None
        if held is None or track is None or track.quiet:
            return func(*args, **kwargs)
        operation = _operations.get(func)
        if operation is None:
            operation = _operations[func] = read(func)
        if operation.passed or _capturing(held):
            return func(*args, **kwargs)
        return _Record(held, track, operation, func).run(args, kwargs)


class _Record:
    """An operation that is being recorded."""

    __slots__ = (
        *("_draw", "_func", "_held", "_inputs", "_kept", "_key", "_known", "_mutated", "_node", "_phase", "_private"),
        *("_signature", "_state", "_track", "_workspaces"),
    )

    def __init__(self, held: Session, track: Track, known: Operation, func: Any) -> None:
        self._held = held
        self._track = track
        self._known = known
        self._func = func
        self._inputs: list[str] = []
        self._mutated: list[torch.Tensor] = []
        self._signature = Signature()
        self._phase = _FORWARD
        self._node = ""
        self._key: Key = ()
        self._state = b""  # the default generator's state before an operation that may draw
        self._draw: tuple[int, str, str] | None = None
        self._private = False  # whether it is given a generator of its own
        self._kept: Any = None
        self._workspaces: set[int] = set()  # ids of results that are partly never written

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the operation and record it. An error in recording does not affect the program."""
        try:
            self._before(args, kwargs)
        except Exception as error:
            self._held.missed(self._known.name, error)
            return self._func(*args, **kwargs)
        try:
            result = self._func(*args, **kwargs)
        except Exception as error:
            self._failed(error, args, kwargs)
            raise
        try:
            if self._known.collective:
                _wait(result)
            self._after(result, args, kwargs)
        except Exception as error:
            self._held.missed(self._known.name, error)
        self._held.bound(self._track)
        return result

    def _before(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        held, track, known = self._held, self._track, self._known
        track.settle()
        self._place()
        for place, value in enumerate(args):
            self._given(value, known.flags.get(place, 0))
        for name, value in kwargs.items():
            self._given(value, known.flags.get(name, 0))
        if known.tagged or known.foreign:
            self._state = _state()
        if known.tagged:
            state = "" if self._private else digests.of_bytes(self._state)
            self._draw = (int(Draw.TAGGED), state, "" if self._private else _device_state(args, kwargs))
        if held.keeper is not None:
            places = held.lines.places(self._key)
            self._kept = held.keeper.before(track.name, track.writer.number, known.name, places, kwargs)

    def _after(self, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        made = self._made(result)
        if self._kept is not None:
            self._held.keeper.after(self._kept, made, _tensors(args, kwargs))
        outputs = self._digest(made, self._track.writer.number)
        if self._state and _state() != self._state:
            tagged, device = (Draw.TAGGED, self._draw[2]) if self._draw else (Draw.NO, "")
            self._draw = (int(Draw.SEEN | tagged), digests.of_bytes(self._state), device)
        self._write(outputs, args, kwargs)

    def _failed(self, error: Exception, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        try:
            self._write([f"!{type(error).__name__}"], args, kwargs)
        except Exception as own:
            self._held.missed(self._known.name, own)

    def _place(self) -> None:
        """Find the phase, the step of autograd and the line."""
        track, lines = self._track, self._held.lines
        frame = sys._getframe(4)
        current = _current_node()
        if current is None:
            self._key = lines.key(frame) or ()
            self._phase = _OPTIMIZER if track.optimizing else _FORWARD
            track.forward(_next_sequence(), self._key)
            return
        own = lines.key(frame, past_engine=False)
        if not own:  # no user's code within the engine: the line is that of the forward operation
            own = self._forward_key(current) or lines.key(frame) or ()
        self._phase, self._node, self._key = _BACKWARD, current.name(), own

    def _forward_key(self, node: Any) -> Key | None:
        sequence = node._sequence_nr()
        found = self._track.backward(sequence)
        main = self._held.main
        return found if found is not None or main is None else main.backward(sequence)

    # inputs

    def _given(self, value: Any, flag: int) -> None:
        if isinstance(value, torch.Tensor):
            self._inputs.append(self._input(value, flag))
        elif isinstance(value, (list, tuple)):
            tensors = [one for one in value if isinstance(one, torch.Tensor)]
            if 0 < len(tensors) <= _MOST_INPUTS:
                self._inputs += [self._input(one, flag) for one in tensors]
            elif tensors:
                self._inputs.append(self._list(tensors, flag))
            elif any(isinstance(one, (list, tuple)) for one in value):  # c10d takes lists of lists
                for one in value:
                    self._given(one, flag)
        elif isinstance(value, torch.Generator):
            self._private = value is not torch.default_generator
            digest = digests.of_bytes(_raw(value.get_state()))
            if self._private:
                self._tell(value, digest)
            self._inputs.append(given(digest, -1, _GENERATOR))

    def _tell(self, generator: torch.Generator, state: str) -> None:
        """Record the seed of a generator, unless the last one given at this line had the same seed."""
        seed = generator.initial_seed()
        if self._track.generators.get(self._key) != seed:
            self._track.generators[self._key] = seed
            data: dict[str, Value] = {"seeded": seed != _UNSEEDED, "value": str(seed)}
            self._track.event("generator", "torch.Generator", self._key, (state,), data)

    def _input(self, tensor: torch.Tensor, flag: int) -> str:
        producer, allocation, opaque = self._track.storages.of(tensor)
        self._signature.add(tensor)
        bits = flag
        if flag & _WRITTEN:
            self._mutated.append(tensor)
        if flag & _UNREAD:
            return given("", producer, flag)
        if opaque:
            return given("", producer, flag | _UNINITIALISED, allocation)
        if producer == -1:
            bits |= _HOST
        if allocation != -1:
            bits |= _UNINITIALISED
        if tensor.dim() == 0 and tensor.device.type == "cpu":
            bits |= _SCALAR
        return given(digests.of_tensor(tensor), producer, bits, allocation)

    def _list(self, tensors: Sequence[torch.Tensor], flag: int) -> str:
        known = [self._track.storages.of(one) for one in tensors]
        for one in tensors:
            self._signature.add(one)
        if flag & _WRITTEN:
            self._mutated += tensors
        reads = not flag & _UNREAD
        digest = digests.fold(digests.of_tensor(one) for one in tensors) if reads else ""
        allocation = max(one for _, one, _ in known)
        bits = flag | _LIST | (_UNINITIALISED if reads and allocation != -1 else 0)
        fold = int(digests.fold(str(one) for one, *_ in known)[:8], 16)
        return given(digest, known[0][0], bits, allocation, fold)

    # outputs

    def _made(self, result: Any) -> list[Any]:
        """Return what was made and written: results, then arguments written in place that are not among them."""
        made = list(result) if isinstance(result, (tuple, list)) else [result]
        flat = [one for item in made for one in (item if isinstance(item, (tuple, list)) else (item,))]
        self._workspaces = {id(flat[place]) for place in self._known.workspaces if place < len(flat)}
        known = {id(one) for one in flat}
        return [*(one for one in flat if one is not None), *(one for one in self._mutated if id(one) not in known)]

    def _digest(self, made: Sequence[Any], number: int) -> list[str]:
        known, storages = self._known, self._track.storages
        mutated = {id(one) for one in self._mutated}
        outputs: list[str] = []
        tensors: list[torch.Tensor] = []
        self._signature.turn()
        for one in made:
            if not isinstance(one, torch.Tensor):
                if not (known.collective or known.sending):
                    outputs.append(_value(one))
                continue
            self._signature.add(one)
            if known.empty or id(one) in self._workspaces:
                storages.allocated(one, number, opaque=not known.empty)
                if known.empty:
                    self._poison(one)
                outputs.append("")
            elif known.taking:
                if storages.of(one)[0] == -1:
                    storages.allocated(one, number)
                outputs.append("")
            elif known.sending:
                storages.wrote_part(one, number)  # when the data arrive
                outputs.append("")
            elif known.view and id(one) not in mutated:
                outputs.append("")
            else:
                tensors.append(one)
                outputs.append(self._written(one, number, id(one) in mutated))
        if len(tensors) > _MOST_INPUTS:
            return [digests.fold(outputs)]
        return outputs

    def _written(self, tensor: torch.Tensor, number: int, in_place: bool) -> str:
        storages = self._track.storages
        overwritten = in_place and self._known.overwrites
        if storages.of(tensor)[1] != -1 and in_place and not overwritten:
            storages.wrote_part(tensor, number)
            return ""  # the rest is as unknown as before
        storages.wrote(tensor, number, fresh=not in_place)
        return digests.of_tensor(tensor)

    def _poison(self, tensor: torch.Tensor) -> None:
        byte = self._held.options.poison
        if byte >= 0 and tensor.device.type in ("cpu", "cuda"):
            storage: Any = tensor.untyped_storage()
            storage.fill_(byte)

    def _write(self, outputs: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        writer = self._track.writer
        stack = self._track.stack(self._key)
        name, node = writer.symbol(self._known.name), writer.symbol(self._node)
        signature = writer.symbol(self._signature.text())
        text = arguments_text(args, kwargs)
        writer.op(name, stack, self._phase, node, self._inputs, outputs, text, signature, self._draw)


def enter() -> None:
    """Record this thread from now on."""
    if not any(isinstance(mode, Recorder) for mode in _get_current_dispatch_mode_stack()):
        Recorder().__enter__()  # type: ignore[no-untyped-call]


def leave() -> None:
    """Stop recording this thread, unless another mode was entered since and has not been left."""
    modes = _get_current_dispatch_mode_stack()
    if modes and isinstance(modes[-1], Recorder):
        modes[-1].__exit__(None, None, None)  # type: ignore[no-untyped-call]


def hide_from_compiler() -> None:
    """Make torch.compile skip the recorder. This slows every operation, so it is done only where needed."""
    if not getattr(Recorder, "hidden", False):
        Recorder.hidden = True  # type: ignore[attr-defined]
        Recorder.__torch_dispatch__ = torch._disable_dynamo(Recorder.__torch_dispatch__, recursive=True)  # type: ignore


def _tensors(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    given = [*args, *kwargs.values()]
    flat = [one for value in given for one in (value if isinstance(value, (list, tuple)) else (value,))]
    return [one for one in flat if isinstance(one, torch.Tensor)]


def _state() -> bytes:
    """Return the state of the default generator of the CPU."""
    return _raw(torch.default_generator.get_state())


def _capturing(held: Session) -> bool:
    """Return whether a CUDA graph captures operations now: results cannot be read, and replays will not be seen."""
    if not torch.cuda.is_initialized() or not torch.cuda.is_current_stream_capturing():  # type: ignore[no-untyped-call]
        return False
    held.unseen["operations within CUDA graphs"] = None
    return True


def _raw(state: torch.Tensor) -> bytes:
    return ctypes.string_at(state.data_ptr(), state.numel())


def _device_state(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return the digest of the generator of the device that an operation draws on; "" for the CPU."""
    device = next((one.device for one in args if isinstance(one, torch.Tensor)), None) or kwargs.get("device")
    if device is None or torch.device(device).type != "cuda" or torch.cuda.is_current_stream_capturing():
        return ""
    index = torch.device(device).index
    number = torch.cuda.current_device() if index is None else index
    return digests.of_bytes(_raw(torch.cuda.default_generators[number].get_state()))


def _wait(result: Any) -> None:
    """Wait until the results of a collective operation are there: it returns before."""
    import torch.distributed as dist

    for one in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(one, torch.ScriptObject):
            dist.Work.unbox(one).wait()


def _value(value: Any) -> str:
    text = repr(value) if isinstance(value, (int, float, complex, str, bool)) else type(value).__name__
    return f"={text[:_LONGEST_VALUE]}"
