"""Files and folders that an expression names relative to its file, such as `os.path.dirname(__file__)`."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import normpath

from detlint.semantics.model import Module
from detlint.tree import syntax as s

_FILE = "<file>"  # the file itself; an entry of its folder is <file>/../name
_DEEP = 6  # nested expressions


def folder(module: Module, node: s.Expression) -> str | None:
    """Return the folder, relative to that of the file, or None: not known. "." and "a/../b" are left as they are."""
    found = _path(module, node, _DEEP)
    return None if found is None or found == _FILE else found.replace(f"{_FILE}/..", ".", 1)


def ends_in(node: s.Expression, suffixes: tuple[str, ...], depth: int = _DEEP) -> bool:
    """Return whether an expression that may be a path ends in a string with one of these suffixes."""
    last: s.Expression | None = None
    if isinstance(node, s.Constant):
        return isinstance(node.value, str) and node.value.endswith(suffixes)
    if isinstance(node, s.Operation) and node.operator in ("/", "+", "f-string"):
        last = node.operands[-1] if node.operands else None
    elif isinstance(node, s.Call) and node.arguments:
        last = node.arguments[-1].value
    elif isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
        last = node.function.value
    return last is not None and depth > 0 and ends_in(last, suffixes, depth - 1)


def located(module: Module, node: s.Expression) -> tuple[str, bool] | None:
    """Return the path that an expression is, and whether it is relative to its file's folder; None where not known."""
    found = _path(module, node, _DEEP)
    if found is None or found == _FILE:
        return None
    own = found.removeprefix(f"{_FILE}/..")
    return normpath(f"./{own}" if own != found else found), own != found


def folders(module: Module, node: s.Expression) -> list[str]:
    """Return the result of folder(), or those for what calls in the same file pass for the parameter that `node` is."""
    around = module.function_of(node)
    names = [] if around is None else [parameter.name for parameter in around.parameters]
    if not isinstance(node, s.Name) or node.id not in names:
        return [found] if (found := folder(module, node)) is not None else []
    at = names.index(node.id)
    calls = [call for call in module.calls if any(module.functions.get(name) is around for name in module.callee(call))]
    given = [call.arguments[at] for call in calls if at < len(call.arguments)]
    plain = (argument.value for argument in given if not argument.star and argument.keyword in (None, node.id))
    return [found for value in plain if (found := folder(module, value)) is not None]


def _path(module: Module, node: s.Expression, depth: int) -> str | None:
    if depth == 0:
        return None
    if isinstance(node, s.Constant):
        return node.value if isinstance(node.value, str) and not node.value.startswith(("/", "~")) else None
    if isinstance(node, s.Name):
        if node.id == "__file__":
            return _FILE
        values = module.values(node) or []
        return _path(module, values[0], depth - 1) if len(values) == 1 and values[0] is not node else None
    if isinstance(node, s.Operation) and node.operator in ("/", "+") and len(node.operands) == 2:
        return _joined(*(_path(module, operand, depth - 1) for operand in node.operands))
    if isinstance(node, s.Attribute) and node.attribute == "parent":
        return _parent(_path(module, node.value, depth - 1))
    if isinstance(node, s.Subscript) and isinstance(node.value, s.Attribute) and node.value.attribute == "parents":
        found, index = _path(module, node.value.value, depth - 1), node.indices[0]
        times = index.value + 1 if isinstance(index, s.Constant) and isinstance(index.value, int) else 0
        for _ in range(times):
            found = _parent(found)
        return found if times else None
    if isinstance(node, s.Operation) and node.operator == "f-string":
        return _spelled(module, node.operands, depth - 1)
    return _call(module, node, depth) if isinstance(node, s.Call) else None


def _call(module: Module, node: s.Call, depth: int) -> str | None:
    given = [argument.value for argument in node.arguments]
    names = module.callee(node)
    if names == {"os.path.dirname"} and given:
        return _parent(_path(module, given[0], depth - 1))
    if names == {"os.path.join"} and given:
        return _joined(*(_path(module, part, depth - 1) for part in given))
    if isinstance(node.function, s.Attribute) and node.function.attribute == "joinpath":
        return _joined(*(_path(module, part, depth - 1) for part in (node.function.value, *given)))
    if names and names <= module.python("functions", "same-path") and len(given) == 1:
        return _path(module, given[0], depth - 1)
    if names in ({"os.getcwd"}, {"pathlib.Path.cwd"}):
        return "."
    method = node.function.attribute if isinstance(node.function, s.Attribute) else ""
    if isinstance(node.function, s.Attribute) and method in module.python("methods", "same-path"):
        return _path(module, node.function.value, depth - 1)
    return None


def _spelled(module: Module, parts: Sequence[s.Expression], depth: int) -> str | None:
    """Return the path that an f-string makes of its parts, or None where one is not known or the path is absolute."""
    found = [part.value if isinstance(part, s.Constant) else _path(module, part, depth) for part in parts]
    texts = [text for text in found if isinstance(text, str) and text != _FILE]
    whole = "".join(texts)
    return whole if len(texts) == len(found) and not whole.startswith(("/", "~")) else None


def _parent(path: str | None) -> str | None:
    return None if path is None else f"{path}/.."


def _joined(*parts: str | None) -> str | None:
    if any(part is None or part == _FILE for part in parts):
        return None
    return "/".join(part for part in parts if part)
