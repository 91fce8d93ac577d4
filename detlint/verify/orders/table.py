"""The rows of the catalogue whose orders can be permuted, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from detlint.verify import bits
from detlint.verify.job import Job
from detlint.verify.orders import attention, gradients, indexed, scans
from detlint.verify.orders.addends import Addends
from detlint.verify.probe import Probe

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

# the probes of these rows take the gradient of the one operation that adds with atomics, and of nothing around it
_GRADIENTS = """
take.bwd gather.bwd take_along_dim.bwd index_select.bwd repeat_interleave.bwd cummaxmin.bwd embedding.bwd
embedding_bag_max.bwd avg_pool3d.bwd avg_pool3d.bwd.padded avg_pool3d.bwd.disjoint adaptive_avg_pool2d.bwd
adaptive_avg_pool2d.bwd.1d adaptive_avg_pool3d.bwd interpolate_area.bwd interpolate_area.bwd.factor
adaptive_max_pool2d.bwd adaptive_max_pool2d.bwd.one adaptive_max_pool2d.bwd.1d adaptive_max_pool3d.bwd
fractional_max_pool.bwd max_pool3d.bwd max_pool3d.bwd.indices max_pool3d.bwd.with_indices max_pool3d.bwd.disjoint
max_pool3d.bwd.disjoint.indices max_pool3d.bwd.disjoint.with_indices upsample_linear1d.bwd upsample_bilinear2d.bwd
upsample_bilinear2d.bwd.upsample upsample_bilinear2d.bwd.fixed upsample_trilinear3d.bwd upsample_bicubic2d.bwd
upsample_bicubic2d.bwd.upsample upsample_bicubic2d.bwd.any upsample_linear.bwd.any upsample_aa.bwd reflection_pad2d.bwd
reflection_pad2d.bwd.pad reflection_pad2d.bwd.one_way reflection_pad2d.bwd.pad.one_way reflection_pad1d3d.bwd
reflection_pad1d3d.bwd.pad reflection_pad1d3d.bwd.1d reflection_pad1d3d.bwd.pad1d replication_pad.bwd
replication_pad.bwd.pad replication_pad.bwd.pad.1d replication_pad.bwd.pad.3d replication_pad.bwd.1d
replication_pad.bwd.3d grid_sample.bwd grid_sample.bwd.corners_padded grid_sample.bwd.corners_mode grid_sample.bwd.any
grid_sample.bwd.raw grid_sample_cudnn.bwd
""".split()


def _add(bench: Bench) -> Addends:
    return indexed.scattered(bench, lambda target, index, values: target.scatter_add(0, index, values))


def _reduce(bench: Bench, name: str) -> Addends:
    how = indexed.reduced(bench, name)
    kind = {"add": "sum", "multiply": "prod"}[how]
    return indexed.scattered(
        bench, lambda target, index, values: target.scatter_reduce(0, index, values, kind), combine=how
    )


def _put(bench: Bench) -> Addends:
    return indexed.scattered(bench, lambda target, index, values: target.put(index, values, accumulate=True))


def _put_last(bench: Bench) -> Addends:
    return indexed.scattered(bench, lambda target, index, values: target.put(index, values), "write")


def _scatter(bench: Bench) -> Addends:
    return indexed.scattered(bench, lambda target, index, values: target.scatter(0, index, values), "write")


def _index_put(bench: Bench) -> Addends:
    return indexed.scattered(bench, lambda target, index, values: target.index_put((index,), values), "write")


def _index_add(bench: Bench) -> Addends:
    return indexed.rows(bench, lambda target, index, values: target.index_add(0, index, values))


def _index_copy(bench: Bench) -> Addends:
    return indexed.rows(bench, lambda target, index, values: target.index_copy(0, index, values), "write")


def _index_reduce(bench: Bench) -> Addends:
    how = indexed.reduced(bench, "prod")
    if how == "add":  # a mean: the sum, divided afterwards
        return _index_add(bench)
    return indexed.rows(bench, lambda target, index, values: target.index_reduce(0, index, values, "prod"), how)


_INDEXED: Mapping[str, Callable[[Bench], Addends]] = {
    "scatter_add.fwd": _add,
    "scatter_reduce_sum_mean.fwd": partial(_reduce, name="sum"),
    "scatter_reduce_prod.fwd": partial(_reduce, name="prod"),
    "scatter_reduce_prod.fwd.any": partial(_reduce, name="prod"),
    "scatter_reduce_legacy.fwd": partial(_reduce, name="multiply"),
    "scatter_reduce_legacy.fwd.any": partial(_reduce, name="multiply"),
    "scatter_reduce_legacy.fwd.add": partial(_reduce, name="add"),
    "index_add.fwd": _index_add,
    "index_add.fwd.repeats": _index_add,
    "index_reduce.fwd": _index_reduce,
    "put_acc.fwd": _put,
    "put_acc.fwd.any": _put,
    "bincount_weights.fwd": indexed.weighed,
    "scatter_src.fwd": _scatter,
    "index_copy.fwd": _index_copy,
    "index_put_noacc.fwd": _index_put,
    "put_noacc.fwd": _put_last,
    "torch_scatter.scatter.fwd": _add,
    "torch_scatter.scatter.fwd.mul": partial(_reduce, name="mul"),
    "torch_scatter.scatter.fwd.reduce": partial(_reduce, name="sum"),
    "torch_scatter.scatter.fwd.reduce_mul": partial(_reduce, name="mul"),
    "nll_loss2d.fwd": indexed.losses,
    "nll_loss2d.fwd.nllloss2d": indexed.losses,
    "nll_loss2d.fwd.module": indexed.losses,
    "sdpa_flash.bwd": attention.queries,
    "sdpa_flash.bwd.layers": attention.queries,
    "sdpa_flash.bwd.functional": attention.queries,
    "sdpa_flash.bwd.module": attention.queries,
    "varlen_attn.bwd": attention.queries,
    "flash_attn.bwd": attention.queries,
    "flash_attn.module": attention.queries,
    "flash_attn.module.mha": attention.queries,
}
_SCANS = {
    "cumsum.fwd": "cumsum",
    "masked_cumsum.fwd": "cumsum",
    "multinomial_replacement.fwd": "cumsum",
    "cumprod.fwd": "cumprod",
    "masked_cumprod.fwd": "cumprod",
    "logcumsumexp.fwd": "logcumsumexp",
}
ROWS = frozenset([*_GRADIENTS, *_INDEXED, *_SCANS])
"""The rows that have a reference."""


def permuted(job: Job, probe: Probe) -> dict[str, Any]:
    """Return what other orders give for a job's row, as fields of an answer.

    Raises UnlikeError if the reference does not compute what torch does, and anything that the operation raises.
    """
    bench = gradients.Gathering("cpu", job.dtype, job.arguments, job.called)
    written = False
    if job.row in _SCANS:
        told, found, fixed = _scanned(bench, _SCANS[job.row])
    else:
        addends = _INDEXED[job.row](bench) if job.row in _INDEXED else gradients.of(probe, bench)
        written = addends.combine == "write"
        told, found, fixed = addends.permuted, _checked(addends), addends.fixed()
        if fixed and bench.assumed and addends.values.is_floating_point():
            fixed = ""  # that holds for values chosen here: those of the call may differ
    if bench.assumed:
        told += f" (chosen here: {', '.join(sorted(name.removeprefix('@') for name in bench.assumed))})"
    first, digests, apart = None, list[str](), list[tuple[float | None, int | None]]()
    for result in found:
        digests.append(bits.digest(result))
        first = result if first is None else first
        if digests[-1] not in digests[:-1]:
            apart.append(bits.apart(first, result))
    return {
        "digests": tuple(digests),
        "absolute": max((one for one, _ in apart if one), default=None),
        "ulp": None if written else max((one for _, one in apart if one), default=None),
        "permuted": told,
        "reason": fixed,
        "taken": bench.taken,
        "assumed": bench.assumed,
    }


def _checked(addends: Addends) -> Iterator[Tensor]:
    for number, result in enumerate(addends.results()):
        if number == 0:
            addends.check(result)
        yield result if addends.rounded is None else result.to(addends.rounded)


def _scanned(bench: Bench, name: str) -> tuple[str, Iterator[Tensor], str]:
    import torch

    scan: Callable[..., Tensor] = getattr(torch, name)
    join: Any = {
        "cumsum": torch.add,
        "cumprod": torch.mul,
        "logcumsumexp": torch.logaddexp,
    }[name]
    values = bench.factors(scans.length()) if name == "cumprod" else bench.normal(scans.length())
    expected = scan(values, 0)
    size = values.abs().cumsum(0) if name == "cumsum" else expected.abs().clamp_min(1)

    def found() -> Iterator[Tensor]:
        for number, result in enumerate(scans.results(values, lambda tile: scan(tile, 0), join)):
            if number == 0:
                scans.check(result, expected, size)
            yield result

    return "the tiles that each tile looks back to", found(), ""
