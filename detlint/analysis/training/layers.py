"""Where the layers that a program makes are run, nowhere or on the CPU alone, and what they are given."""

from __future__ import annotations

from functools import cache

from detlint.analysis.training.contexts import makes_object, named
from detlint.analysis.values.tensors import is_on_cpu
from detlint.catalogue import Catalogue
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def is_idle(module: Module, call: s.Call) -> bool:
    """Return whether `call` makes what a class keeps in attributes of itself that nothing in the file reads.

    False where that is not known: where a base is unknown, where the class iterates over all of a module's parts, or
    where other code is to complete the class.
    """
    klass = module.class_of(call)
    assign = next((a for a in call.ancestors() if isinstance(a, s.Statement)), None)
    if klass is None or not isinstance(assign, s.Assign) or not all(_on_self(target) for target in assign.targets):
        return False
    known = module.catalogue.names("names", "base", id="module") | module.classes.keys()
    family = module.family(klass)
    if any(not module.bases(owner) or not known.issuperset(module.bases(owner)) for owner in family):
        return False
    made = next(module.calls_to((module.qualified(klass),)), None) is not None
    if not made and not any(module.method(klass, method) for method in named(module, "module-methods")):
        return False
    through = named(module, "every-part")
    if any(_identifier(node) in through for owner in family for node in s.walk(owner)):
        return False
    attributes = {target.attribute for target in assign.targets if isinstance(target, s.Attribute)}
    parts = (*module.every(s.Constant), *module.every(s.Attribute))
    return not any(_reads(node, attributes) for node in parts)


def given_to_layer(module: Module, call: s.Call) -> s.Expression | None:
    """Return the tensor that a call gives a layer of torch without weights; None where it does not surely do that."""
    made = [call.function] if isinstance(call.function, s.Call) else module.constructors(call)
    layers = _without_weights(module.catalogue) if made and call.arguments else frozenset()
    known = bool(layers) and all(makes_object(each) and each <= layers for each in map(module.callee, made))
    return call.arguments[0].value if known else None


@cache
def _without_weights(catalogue: Catalogue) -> frozenset[str]:
    names = catalogue.names
    layers = names("ops", "op", rule="DET302") | names("dropout", "dropout", kind="layer")
    return layers - names("randomness", "consumer", weights="yes")


def runs_on_cpu(module: Module, call: s.Call) -> bool:
    """Return whether each run of the layer that `call` makes is given a tensor of the CPU, as far as the file shows.

    False where the layer is used in any other way than to be called.
    """
    assign = call.parent
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    reads: list[s.Expression] = []
    if isinstance(target, s.Name) and (scope := target.scope.find(target.id)) is not None:
        reads = [*module.reads(scope, target.id)]
    elif isinstance(target, s.Attribute) and (klass := module.class_of(call)) is not None:
        named = [each for each in module.attributes(target.attribute) if not each.stored]
        reads = [each for each in named if module.owner(each.value) in module.family(klass)]
        reads = reads if len(reads) == len(named) else []
    runs = [read.parent for read in reads]
    return bool(runs) and all(
        isinstance(run, s.Call) and run.function is read and run.arguments and is_on_cpu(module, run.arguments[0].value)
        for run, read in zip(runs, reads, strict=True)
    )


def _on_self(target: s.Expression) -> bool:
    return isinstance(target, s.Attribute) and isinstance(target.value, s.Name)


def _identifier(node: s.Node) -> str | None:
    if isinstance(node, s.Name):
        return node.id
    return node.attribute if isinstance(node, s.Attribute) else None


def _reads(node: s.Node, attributes: set[str]) -> bool:
    if isinstance(node, s.Constant):
        return node.value in attributes
    return isinstance(node, s.Attribute) and not node.stored and node.attribute in attributes
