"""Sites of arguments: generators, seeds and functions for workers that are handed to what draws."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.tools.mutants.edits import Site, dropped, replaced, without_keyword
from tests.tools.mutants.seeding import GLOBAL_SEEDS, OWN_GENERATORS
from tests.tools.mutants.units import File, Unit, is_none, last

_DRAWS = re.compile(
    r"DataLoader|random_split|randperm|RandomSampler|SubsetRandomSampler|WeightedRandomSampler|rand|randn|randint"
    r"|normal_?|uniform_|multinomial|bernoulli_?|exponential_|random_|randn_tensor|randn_like|rand_like|\w*[pP]ipe\w*"
    r"|sample\w*|__call__"
)
_SEEDED = re.compile(
    r"reset|shuffle|train_test_split|make_\w+|sample|KMeans|\w*Fold|\w*Split\w*|\w*Classifier|\w*Regressor|PCA|TSNE|UMAP"
    r"|\w*SVC|SGD\w*|Compose|DistributedSampler|create_study|\w*Sampler|RandomForest\w*|choice|resample|Trainer\w*"
    r"|TrainingArguments"
)
_SIMULATION = re.compile(r"env|action_space|observation_space")


def generators(file: File) -> Iterator[Site]:
    """M2: `generator=` of what draws."""
    for unit, call, name in file.calls():
        for keyword in call.keywords:
            if keyword.arg != "generator" or not _DRAWS.fullmatch(last(name)):
                continue
            if not isinstance(keyword.value, ast.Constant) and not _is_handed_on(unit, call, keyword):
                what = f"remove `{unit.text(keyword)}` of {last(name)}"
                yield Site(unit, keyword, what, (last(name),), without_keyword(unit, keyword))


def _is_handed_on(unit: Unit, call: ast.Call, keyword: ast.keyword) -> bool:
    """Whether it is a parameter's value: whether there is one is the caller's doing."""
    functions = (each for each in unit.around(call) if isinstance(each, ast.FunctionDef))
    names = {argument.arg for each in functions for argument in (*each.args.args, *each.args.kwonlyargs)}
    return unit.text(keyword.value) == "generator" and "generator" in names


def workers(file: File) -> Iterator[Site]:
    """M3: `worker_init_fn=`."""
    for unit, call, _ in file.calls():
        for keyword in call.keywords:
            if keyword.arg == "worker_init_fn" and not isinstance(keyword.value, ast.Constant):
                yield Site(unit, keyword, f"remove `{unit.text(keyword)}`", (), without_keyword(unit, keyword))


def seeds(file: File) -> Iterator[Site]:
    """M5: `random_state=` and `seed=` of what libraries offer, and `env.seed(...)`."""
    for unit, call, name in file.calls():
        for keyword in call.keywords:
            given = keyword.arg == "random_state" or (keyword.arg == "seed" and _SEEDED.fullmatch(last(name)))
            if given and not is_none(keyword.value) and last(name) not in file.defined:
                what = f"remove `{unit.text(keyword)}` of {unit.text(call.func)}"
                yield Site(unit, keyword, what, (last(name),), without_keyword(unit, keyword))
        seeding = unit.is_statement(call) and last(name) == "seed" and call.args and name not in GLOBAL_SEEDS
        if seeding and _SIMULATION.search(unit.text(call.func)):
            what = f"drop `{unit.text(call)}`"
            yield Site(unit, call, what, ("env.seed",), dropped(unit, unit.statement(call)))


def own(file: File) -> Iterator[Site]:
    """M8: seeds of generators that a program makes for itself.

    A `torch.Generator` that is never seeded begins with a constant, so it is given `seed()`, which takes entropy.
    """
    made = {
        unit.text(target)
        for unit, node in file.walk(ast.Assign)
        if isinstance(node.value, ast.Call) and file.qualified(node.value.func) == "torch.Generator"
        for target in node.targets
    }
    for unit, call, name in file.calls():
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if name in OWN_GENERATORS and len(arguments) == 1 and not is_none(arguments[0]):
            yield _rewritten(unit, call, f"{unit.text(call.func)}()", last(name))
        if last(name) == "manual_seed" and isinstance(call.func, ast.Attribute) and unit.is_statement(call):
            owner = unit.text(call.func.value)
            if owner in made:
                yield _rewritten(unit, call, f"{owner}.seed()", "torch.Generator")


def _rewritten(unit: Unit, call: ast.Call, new: str, tag: str) -> Site:
    return Site(unit, call, f"`{unit.text(call)}` -> `{new}`", (tag,), replaced(unit, call, new))
