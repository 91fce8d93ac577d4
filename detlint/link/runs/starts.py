"""The starts of a project's programs: files that are run, and functions that console scripts call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from detlint.facts import facts as f
from detlint.facts.facts import Facts
from detlint.facts.packed import head
from detlint.finding import Place
from detlint.link.runs.namespaces import folders_above, namespace_packages
from detlint.link.state.program import Program, folder
from detlint.sources.console_scripts import Command

Imported = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Start:
    """The start of a program: a file, or a function in it that a console script calls.

    `kind`, `name`, `place` and `self_check` are those of its entry point. `script` is the file whose folder is searched
    for imports first, `function` the qualified name of the function that is called, "" if the file is run.
    """

    path: str
    kind: str
    script: str
    name: str = ""
    function: str = ""
    target: str = ""
    place: Place | None = None
    self_check: bool = False


def starts(program: Program, imports: Imported, commands: Iterable[Command]) -> Iterator[Start]:
    """Yield the starts of programs: the files of the project in their order, then its console scripts.

    `imports` has the files that each file imports.
    """
    imported = frozenset().union(*imports.values())
    packages = namespace_packages(program)
    for facts in program.facts.values():
        kind = _kind(facts, imported, program)
        if kind:
            check = _is_self_check(facts, imported, packages, program)
            yield Start(facts.path, kind, facts.path, self_check=check)
    for name, target, setup in commands:
        module, _, function = target.partition(":")
        path = program.imports.find(module, setup)
        program.asked.add((path or "", function))
        found = program.facts[path].functions if path in program.facts else {}  # otherwise the file was not given
        qualified = next((q for q in found if head(found, q).kind == "function" and found[q].name == function), None)
        if path is not None and qualified is not None:
            beside = _beside(program, path)
            yield Start(path, "command", beside, name, qualified, function, found[qualified].place)


def runs_only(facts: Facts, function: str) -> bool:
    """Return whether the `__main__` block of a file does nothing but call a function without arguments."""
    blocks = [node for node in facts.top if isinstance(node, f.Branch) and _is_main(node.test)]
    calls = [node.value for block in blocks for node in block.body if isinstance(node, f.Do)]
    alone = len(calls) == 1 and len(blocks[0].body) == 1
    return (
        alone
        and isinstance(calls[0], f.Call)
        and calls[0].function == f.Global(function)
        and not calls[0].arguments
    )  # fmt: skip


def _kind(facts: Facts, imported: frozenset[str], program: Program) -> str:
    """Return the kind of entry point that a file is; "" if it is none."""
    if facts.path.endswith(".ipynb"):
        return "notebook"
    if facts.guarded or facts.path.endswith("__main__.py"):
        return "main"
    alone = not facts.tests and facts.path not in imported
    if not (alone and facts.acts):
        return ""
    return "script" if "." not in facts.module or _ends_in_own_call(facts) or _works_at_top(facts, program) else ""


def _is_self_check(facts: Facts, imported: frozenset[str], packages: frozenset[str], program: Program) -> bool:
    """Return whether a file's `__main__` block only tries out what it offers to others, or the file is a configuration.

    `packages` are the folders that are namespace packages.
    """
    if facts.path.endswith("__main__.py"):  # no file imports it: it is what `python -m` runs
        return False
    offered = "." in facts.module or facts.path in imported
    if not (offered or facts.lasting):
        offered = not packages.isdisjoint(folders_above(facts.path)) and _tries_its_own(facts)
    return (offered and not facts.lasting) or _is_configuration(facts, program)


def _tries_its_own(facts: Facts) -> bool:
    """Return whether the `__main__` block of a file calls something that the file defines."""
    own = {each.name for each in facts.top if isinstance(each, (f.Define, f.DefineClass))}
    blocks = (node.body for node in facts.top if isinstance(node, f.Branch) and _is_main(node.test))
    values = (each.value for block in blocks for each in f.walk(block) if isinstance(each, (f.Do, f.Bind)))
    called = (function for value in values for function in _called(value))
    return any(isinstance(function, f.Global) and function.name in own for function in called)


def _called(value: f.Expression) -> Iterator[f.Expression]:
    """Yield what an expression calls, and what its arguments, receivers and operands call."""
    if isinstance(value, f.Member):
        yield from _called(value.value)
    elif isinstance(value, f.Computed):
        for operand in value.operands:
            yield from _called(operand)
    elif isinstance(value, f.Call):
        yield value.function
        yield from _called(value.function)
        for argument in value.arguments:
            yield from _called(argument.value)


def _is_configuration(facts: Facts, program: Program) -> bool:
    """Return whether a file in a folder of configurations only assigns, for a program that reads it at run time."""
    kept = folder(facts.path).rpartition("/")[2] in program.catalogue.names("program", "configuration")
    return kept and not any(
        isinstance(each, (f.Loop, f.Scoped)) or (isinstance(each, f.Do) and isinstance(each.value, f.Call))
        for each in f.walk(facts.top)
    )


def _beside(program: Program, path: str) -> str:
    """Return a path beside the package of a file: an installed command does not search the file's own folder."""
    while (package := program.package(path)) is not None:
        path = package
    return f"{folder(folder(path) if path.endswith('/__init__.py') else path)}/-"


def _ends_in_own_call(facts: Facts) -> bool:
    """Return whether the top level of a file ends in a call of its own function, as in a script inside a package."""
    last = facts.top[-1] if facts.top else None
    called = last.value.function if isinstance(last, f.Do) and isinstance(last.value, f.Call) else None
    own = (each.name for each in facts.functions.values() if each.kind == "function")
    return isinstance(called, f.Global) and called.name in own and not facts.path.endswith("__init__.py")


def _works_at_top(facts: Facts, program: Program) -> bool:
    """Return whether the top level of a file trains or reads the command line, unlike a file meant for import."""
    names = program.catalogue.names("randomness", "outcome", key="script") if facts.lasting else frozenset()
    values = (each.value for each in f.walk(facts.top) if isinstance(each, (f.Do, f.Bind)))
    called = (each.function for each in values if isinstance(each, f.Call))
    return any(isinstance(each, f.Member) and each.name in names for each in called)


def _is_main(test: f.Expression) -> bool:
    """Return whether a test asks if a file is run as the main program."""
    return isinstance(test, f.Compare) and test.operator == "==" and f.Global("__name__") in (test.left, test.right)
