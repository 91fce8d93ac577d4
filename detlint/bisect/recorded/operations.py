"""What torch's schemas say about an operation: which arguments it reads, writes or only views, whether it draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from detlint.bisect.records import COLLECTIVES, Flag

if TYPE_CHECKING:
    from torch._ops import OpOverload

# in-place operations that overwrite their target without reading it
_OVERWRITING = frozenset(
    "copy_ fill_ zero_ uniform_ normal_ random_ exponential_ log_normal_ geometric_ cauchy_ "
    "bernoulli_ _foreach_copy_ _foreach_zero_".split()
)
_EMPTY = frozenset(
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided empty_quantized "
    "_empty_affine_quantized _empty_per_channel_affine_quantized".split()
)
# Results, by place, that serve the backward operation alone and are partly never written. Seen to differ between equal
# runs on the CPU: mkldnn_rnn_layer. ATen's sources for CUDA allocate the others in this way: reserves of recurrent
# layers and batch norms, seeds and masks of attention without dropout, log-sums padded to whole blocks.
_WORKSPACES: dict[str, tuple[int, ...]] = {
    "mkldnn_rnn_layer": (3,),
    "_cudnn_rnn": (3,),
    "miopen_rnn": (3,),
    "cudnn_batch_norm": (3,),
    "_batch_norm_with_update": (3,),
    "_batch_norm_with_update_functional": (3,),
    "_scaled_dot_product_flash_attention": (6, 7, 8),
    "_scaled_dot_product_efficient_attention": (1, 2, 3),
    "_scaled_dot_product_cudnn_attention": (6, 7, 8),
    "_flash_attention_forward": (2, 3, 4),
    "_efficient_attention_forward": (1, 2, 3),
    "_cudnn_attention_forward": (6, 7, 8),
}
_TAKING = frozenset(("set_", "resize_"))  # they give a tensor other memory, and read none
_SENDING = ("send", "recv_", "recv_any_source_")  # waiting for one whose partner has not begun would never end


@dataclass(frozen=True, slots=True)
class Operation:
    """What is known of an operation from its schema; `flags` has the places and names of arguments as keys."""

    name: str
    passed: bool  # not recorded: it computes nothing
    flags: dict[int | str, int]  # of Flag
    view: bool  # its results are views of its arguments
    empty: bool  # its results have no content yet
    tagged: bool  # torch says that it may draw random numbers
    foreign: bool  # not torch's own: tags may be missing
    collective: bool  # its results are complete only after a wait for its work
    sending: bool  # the same, but it must not be waited for
    taking: bool  # it gives a tensor other memory
    overwrites: bool  # it does not read what it writes
    workspaces: tuple[int, ...]  # places of results that are partly never written


def read(func: OpOverload[Any, Any]) -> Operation:
    """Read the schema of an operation."""
    import torch

    schema = func._schema
    base = schema.name.partition("::")[2]
    namespace = schema.name.partition("::")[0]
    flags: dict[int | str, int] = {}
    aliased = [one.alias_info for one in schema.returns if one.alias_info is not None]
    view = bool(aliased) and not any(info.is_write for info in aliased) and base != "lift_fresh"
    for place, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info is None:
            flag = Flag.VIEWED if base in _EMPTY or base.endswith("_like") or base.startswith("new_") else Flag.NONE
        elif base in _TAKING:
            flag = Flag.VIEWED
        elif info.is_write:
            flag = Flag.WRITE_ONLY if argument.kwarg_only or base in _OVERWRITING else Flag.MUTATED
        else:
            flag = Flag.VIEWED if view else Flag.NONE
        flags[place] = flags[argument.name] = int(flag)
    if namespace in COLLECTIVES:
        flags.update(_collective(base))
    return Operation(
        str(func),
        namespace == "profiler",
        flags,
        view,
        base in _EMPTY,
        torch.Tag.nondeterministic_seeded in func.tags,
        namespace not in ("aten", "prims"),
        namespace == "c10d" and base not in _SENDING,
        namespace == "c10d" and base in _SENDING,
        base in _TAKING,
        int(Flag.WRITE_ONLY) in flags.values(),
        _WORKSPACES.get(base, ()),
    )


def _collective(base: str) -> dict[int | str, int]:
    """Return the flags that schemas of c10d lack: the first argument is written, and read only where it is reduced.

    A broadcast reads the tensor of one rank, but its content also shows in what that rank has afterwards.
    """
    if base in ("allreduce_", "reduce_", "allreduce_coalesced_"):
        return {0: int(Flag.MUTATED)}
    if base in ("barrier", "monitored_barrier_"):
        return {0: int(Flag.VIEWED)}
    if base == "send":
        return {}
    return {0: int(Flag.WRITE_ONLY)}
