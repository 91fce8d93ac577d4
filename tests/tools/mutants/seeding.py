"""Sites of seeds: calls that seed global generators, where they stand, and the numbers that they are given."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from tests.tools.mutants.edits import Edit, Site, dropped, replaced
from tests.tools.mutants.units import File, Placed, Unit, is_none, last, last_line

GLOBAL_SEEDS = {
    "torch.manual_seed": "torch",
    "torch.random.manual_seed": "torch",
    "numpy.random.seed": "numpy",
    "random.seed": "python",
}
OWN_GENERATORS = {"numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "numpy.random.Generator"}
_HELPER = re.compile(
    r"_?(seed_everything|set_(all_|random_|global_|manual_)?seeds?|set_rand(om)?_seed|seed_all|fix_(random_)?seeds?"
    r"|setup_seed|init_seeds?|seed_torch|set_determinism|set_deterministic|reset_seeds?|initialize_seed|seed_experiment"
    r"|prepare_seed|configure_seed|manual_seed_all|set_seed_everywhere)"
)
_MODEL = re.compile(
    r"(Net|Model|Transformer|Encoder|Decoder|Classifier|ViT|GAN|VAE|Discriminator|Agent|Actor|Critic|QNetwork|MLP|CNN"
    r"|RNN|LSTM|Seq2Seq|Regressor|Flow|build_model|create_model|get_model|make_model|define_G|define_D)\w*$"
    r"|^(resnet|vgg|densenet)\d+$"
)
_NO_MODEL = re.compile(
    r"((^|\.)(Shape|Model)Net$|Collator|DataLoader|Dataset|Config|Optim|Loss|Tokenizer|Trainer|ModelCheckpoint"
    r"|DataModule|Wrapper|from_pretrained)"
)
_SEED_NAME = re.compile(r"(seed|SEED|random_seed|RANDOM_SEED|manual_seed|manualSeed|rng_seed|torch_seed|seed_value)")
_SEED_OPTION = re.compile(r"--?(\w*_)?(seed|manualSeed)")
_ENTROPY = (
    ("int(time.time())", "time"),
    ("os.getpid()", "os"),
    ('hash("run") % 2**32', ""),
    ("int(time.time())", "time"),
)

Cause = tuple[Unit, ast.Call, str]


def calls_dropped(file: File) -> Iterator[Site]:
    """M1: calls that seed a generator and are the only ones of the file to do so."""
    found = list(_seeds(file))
    kinds = Counter(kind for _, _, kind in found)
    for unit, call, kind in found:
        if kinds[kind] == 1:
            also = tuple(f"also-{other}" for other in kinds if other != kind and "helper" in (other, kind))
            yield Site(unit, call, f"drop `{unit.text(call)}`", (kind, *also), dropped(unit, unit.statement(call)))


def calls_moved(file: File) -> Iterator[Site]:
    """M11: seeds of torch before the first model that is built in the same block."""
    for block in _blocks(file):
        kinds = [_seed_of(file, statement) for _, statement in block]
        seeding = [place for place, kind in enumerate(kinds) if kind in ("torch", "helper")]
        models = [place for place, (_, statement) in enumerate(block) if _builds_model(file, statement)]
        if len(seeding) != 1 or not models or models[0] < seeding[0]:
            continue
        (unit, seed), (other, model) = block[seeding[0]], block[models[0]]
        start, end = other.span(model)
        rest = other.data[end : _line_behind(other, last_line(model))].rstrip(b"\n")
        behind = end + len(rest)
        again = Edit(other.cell, behind, behind, f"\n{' ' * model.col_offset}{unit.text(seed)}")
        what = f"move `{unit.text(seed)}` behind `{other.data[start:end].decode()[:70]}`"
        yield Site(unit, seed, what, (kinds[seeding[0]],), (*dropped(unit, seed), again))


def numbers_replaced(file: File) -> Iterator[Site]:
    """M13: seeds that are numbers written out."""
    for unit, node, tag in _numbers(file):
        value, imported = _entropy(file, unit, node.lineno)
        what = f"`{unit.text(node)}` -> `{value}`"
        yield Site(unit, node, what, (tag,), (*imported, *replaced(unit, node, value)))


def _seeds(file: File) -> Iterator[Cause]:
    for unit, call, name in file.calls():
        if unit.is_statement(call) and (kind := _kind(call, name)):
            yield unit, call, kind


def _kind(call: ast.Call, name: str) -> str:
    """Whose generator a call seeds: `torch`, `numpy`, `python`, `helper` for a function that seeds several, or none."""
    if name in GLOBAL_SEEDS and (call.args or call.keywords):
        return "" if any(is_none(argument) for argument in call.args) else GLOBAL_SEEDS[name]
    if _HELPER.fullmatch(last(name)) and not name.startswith(("torch.cuda", "tensorflow", "tf.", "?")):
        return "helper"
    return ""


def _seed_of(file: File, statement: ast.stmt) -> str:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    return _kind(statement.value, file.qualified(statement.value.func))


def _blocks(file: File) -> Iterator[list[tuple[Unit, ast.stmt]]]:
    """The statements that follow each other; the cells of a notebook follow each other too."""
    for unit in file.units:
        for node in unit.nodes:
            for name in ("body", "orelse"):
                block = getattr(node, name, None)
                if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                    continue
                if not file.notebook or block is not unit.tree.body:
                    yield [(unit, statement) for statement in block]
    if file.notebook:
        yield [(unit, statement) for unit in file.units for statement in unit.tree.body]


def _builds_model(file: File, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    value = inside(statement.value, ("to", "cuda", "double", "float"))
    name = file.qualified(value.func) if isinstance(value, ast.Call) else ""
    return bool(_MODEL.search(last(name))) and not _NO_MODEL.search(name)


def inside(value: ast.expr, methods: Sequence[str]) -> ast.expr:
    """What these methods are called on, one after the other."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in methods:
        value = value.func.value
    return value


def _line_behind(unit: Unit, line: int) -> int:
    return unit.starts[line] if line < len(unit.starts) else len(unit.data)


def _numbers(file: File) -> Iterator[tuple[Unit, ast.expr, str]]:
    for unit, call, _ in _seeds(file):
        yield from ((unit, each, "call") for each in _first_number(call))
    for unit, call, name in file.calls():
        if last(name) == "add_argument" and _names_seed(call):
            values = (each.value for each in call.keywords if each.arg == "default")
            yield from ((unit, value, "option") for value in values if _is_number(value))
        if name in OWN_GENERATORS:
            yield from ((unit, each, "own generator") for each in _first_number(call))
        if last(name) == "manual_seed" and name not in GLOBAL_SEEDS and "cuda" not in name:
            yield from ((unit, each, "own generator") for each in _first_number(call))
    fields = ((unit, node.target, node.value, "field") for unit, node in file.walk(ast.AnnAssign))
    variables = ((unit, node.targets[0], node.value, "variable") for unit, node in file.walk(ast.Assign))
    for unit, target, number, tag in chain(fields, variables):
        if isinstance(target, ast.Name) and _SEED_NAME.fullmatch(target.id) and number and _is_number(number):
            yield unit, number, tag


def _names_seed(call: ast.Call) -> bool:
    """Whether the first argument is the name of an option for a seed."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and _SEED_OPTION.fullmatch(str(first.value)) is not None


def _first_number(call: ast.Call) -> Sequence[ast.expr]:
    return call.args[:1] if call.args and _is_number(call.args[0]) else ()


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 0


def _entropy(file: File, unit: Unit, line: int) -> tuple[str, tuple[Edit, ...]]:
    """A value that differs from run to run, of another kind for each place, and the import that it needs.

    The import goes before a statement that is there already: an import, or the first one of a later cell.
    """
    digest = hashlib.sha1(f"{file.path}:{unit.cell}:{line}".encode()).hexdigest()
    value, module = _ENTROPY[int(digest, 16) % len(_ENTROPY)]
    if not module or file.names.get(module) == module:
        return value, ()
    place: Placed | None = next((each for each in unit.tree.body if _is_import(each)), None)
    if place is None and unit.cell:
        place = unit.tree.body[0]
    if place is None or isinstance(place, (ast.FunctionDef, ast.ClassDef, ast.For, ast.With, ast.If)):
        return _ENTROPY[2][0], ()
    start = unit.span(place)[0]
    return value, (Edit(unit.cell, start, start, f"import {module}; "),)


def _is_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module != "__future__"
    return isinstance(statement, ast.Import)
