"""Sites of states: deterministic mode, the state of generators in checkpoints, and models put into evaluation mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.tools.mutants.edits import Site, dropped, replaced, without_item, without_keyword
from tests.tools.mutants.units import File, last

_STATE = re.compile(
    r"get_rng_state|set_rng_state|get_rng_state_all|set_rng_state_all|getstate|setstate|get_state|set_state"
)
_GENERATOR = re.compile(r"(torch|numpy\.random|random)\.")
_DROPS_OUT = re.compile(rb"[Dd]ropout|from_pretrained|[Tt]ransformer|bert")


def switches(file: File) -> Iterator[Site]:
    """M7: switches of cuDNN, deterministic algorithms, and `deterministic=True` of a trainer."""
    for unit, node in file.walk(ast.Assign):
        target = file.qualified(node.targets[0])
        if isinstance(node.value, ast.Constant) and "cudnn" in target:
            if target.endswith("deterministic") and node.value.value is True:
                edits = replaced(unit, node.value, "False")
                yield Site(unit, node, f"`{unit.text(node)}` -> False", ("deterministic",), edits)
            if target.endswith("benchmark") and node.value.value is False:
                edits = replaced(unit, node.value, "True")
                yield Site(unit, node, f"`{unit.text(node)}` -> True", ("benchmark",), edits)
    for unit, call, name in file.calls():
        asked = last(name) in ("use_deterministic_algorithms", "set_deterministic") and unit.is_statement(call)
        if asked and call.args and _is_true(call.args[0]):
            what = f"drop `{unit.text(call)}`"
            yield Site(unit, call, what, ("algorithms",), dropped(unit, unit.statement(call)))
        if last(name) == "Trainer":
            for keyword in call.keywords:
                if keyword.arg == "deterministic" and _is_true(keyword.value):
                    what = f"remove `{unit.text(keyword)}` of Trainer"
                    yield Site(unit, keyword, what, ("trainer",), without_keyword(unit, keyword))


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def checkpoints(file: File) -> Iterator[Site]:
    """M10: the state of a generator that is put back, or is an item of a dict."""
    for unit, call, name in file.calls():
        if not _STATE.fullmatch(last(name)) or not _GENERATOR.match(name):
            continue
        parent = unit.parents.get(call)
        if isinstance(parent, ast.Expr):
            yield Site(unit, call, f"drop `{unit.text(call)}`", ("set",), dropped(unit, parent))
        elif isinstance(parent, ast.Dict):
            key = parent.keys[parent.values.index(call)]
            edits = without_item(unit, key, call) if key else ()
            if edits:
                yield Site(unit, call, f"drop `{unit.text(call)}` of a dict", ("get",), edits)
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Subscript):
            yield Site(unit, call, f"drop `{unit.text(parent)}`", ("get",), dropped(unit, parent))


def evaluation(file: File) -> Iterator[Site]:
    """M12: `model.eval()`, where something in the file may draw in training mode."""
    if not _DROPS_OUT.search(file.text()):
        return
    for unit, call, name in file.calls():
        bare = unit.is_statement(call) and not call.args and not call.keywords
        if bare and last(name) == "eval" and "." in name and not name.startswith(("self.eval", "?")):
            yield Site(unit, call, f"drop `{unit.text(call)}`", (), dropped(unit, unit.statement(call)))
