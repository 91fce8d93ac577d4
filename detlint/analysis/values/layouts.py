"""The memory layout of tensors, as far as the text shows: which attention kernels can take them."""

from __future__ import annotations

from detlint.analysis.values.origins import returned
from detlint.analysis.values.tensors import listed, makers, method_of, sizes_of
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

_DEPTH = 8
Axis = tuple["int | None", bool]  # the size, if a number in the text, and whether its elements are adjacent in memory
Layout = list[Axis]


def no_fused_kernel(module: Module, call: s.Call) -> bool:
    """Return whether no fused kernel can take the arguments of an attention call, so that a plain one runs.

    Fused kernels take four dimensions with adjacent elements in the last, and as many heads for the keys as for the
    queries.
    """
    query, key, value = (_layouts_of_argument(module, call, name) for name in ("query", "key", "value"))
    if any(layouts and all(_is_odd(layout) for layout in layouts) for layouts in (query, key, value)):
        return True
    grouped = module.possible(module.argument(call, "enable_gqa")) != [False]
    if grouped or not query or any(layout[1][0] == 1 for layout in query if len(layout) == 4):
        return False
    return any(layouts and all(_is_odd(x) or x[1][0] == 1 for x in layouts) for layouts in (key, value))


def _is_odd(layout: Layout) -> bool:
    return len(layout) != 4 or not layout[-1][1]


def _layouts_of_argument(module: Module, call: s.Call, name: str) -> list[Layout]:
    found = [layout for value in module.argument(call, name).values for layout in _layouts(module, value, _DEPTH)]
    known = [layout for layout in found if layout is not None and len(layout) > 1]
    return known if len(known) == len(found) else []


def _layouts(module: Module, node: s.Expression, depth: int) -> list[Layout | None]:
    """Return all layouts that an expression may have; None among them stands for an unknown one."""
    if depth == 0:
        return [None]
    found = [layout for value, path in makers(module, node) for layout in _made(module, value, path, depth)]
    return found or [None]


def _made(module: Module, value: s.Expression, path: tuple[int, ...], depth: int) -> list[Layout | None]:
    if isinstance(value, s.Subscript) and not path:
        taken = len(value.indices) if all(isinstance(literal(index), int) for index in value.indices) else None
        return [None if x is None or taken is None else x[taken:] for x in _layouts(module, value.value, depth - 1)]
    if not isinstance(value, s.Call):
        return [None]
    method, receiver, positional = method_of(module, value)
    if not method and not path:
        given = list(returned(module, value))
        return [layout for one in given for layout in _layouts(module, one, depth - 1)] or [None]
    if method in ("view", "reshape"):
        sizes = [literal(size) for size in sizes_of(positional)]
        return [[(n if isinstance(n, int) else None, i == len(sizes) - 1) for i, n in enumerate(sizes)] or None]
    if receiver is None or bool(path) is not (method in ("unbind", "chunk", "split")):
        return [None]
    dims = [literal(d) for d in (*sizes_of(positional), *(a.value for a in value.arguments if a.keyword == "dim"))]
    known = [d for d in dims if isinstance(d, int)]
    same = listed(module, "same-rank")
    found = _layouts(module, receiver, depth - 1)
    return [None if x is None else _changed(x, method, known if len(known) == len(dims) else None, same) for x in found]


def _changed(layout: Layout, method: str, dims: list[int] | None, same: frozenset[str]) -> Layout | None:
    """Return the layout after a method, or None; `dims` are the method's numbers, None where one is not a number."""
    if method == "contiguous":
        return [(size, i == len(layout) - 1) for i, (size, _) in enumerate(layout)]
    if method in same or method in ("chunk", "split"):
        return layout
    room = len(layout) + (method == "unsqueeze")
    if dims is None or not all(-room <= d < room for d in dims):
        return None
    if method == "permute" and len(dims) == len(layout):
        return [layout[d] for d in dims]
    if method in ("transpose", "swapaxes") and len(dims) == 2:
        order = list(range(len(layout)))
        order[dims[0]], order[dims[1]] = order[dims[1]], order[dims[0]]
        return [layout[d] for d in order]
    if method in ("unbind", "select"):
        at = (dims[0] if dims else 0) % len(layout)
        return layout[:at] + layout[at + 1 :]
    if method == "unsqueeze" and dims:
        at = dims[0] % room
        return [*layout[:at], (1, False), *layout[at:]]
    return None
