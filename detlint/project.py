"""The linked project: its entry points, and answers to the open questions of findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from packaging.version import Version

from detlint import facts as f
from detlint.answers import Answers
from detlint.catalogue import Catalogue
from detlint.console_scripts import Command
from detlint.facts import Facts
from detlint.finding import Place, Question, Remedy
from detlint.link.entries import Entry
from detlint.link.library import Interpreter
from detlint.link.objects import Objects
from detlint.link.program import folder, linked
from detlint.link.run import Frame
from detlint.link.state import State
from detlint.link.tables import tables
from detlint.link.values import Function, Value
from detlint.packed import head
from detlint.packed import imports as imported
from detlint.reach import Reached
from detlint.repairs.entry_point import remedy
from detlint.source import is_test


class Project:
    """All files of a run, linked. `imports` has the files that a file imports, by path."""

    def __init__(
        self,
        facts: Iterable[Facts],
        catalogue: Catalogue,
        torch: Version,
        commands: Iterable[Command] = (),
        unread: Iterable[str] = (),
    ) -> None:
        """`commands` are the console scripts.

        `unread` are the paths of files that the project's imports may find though they were not analysed.
        """
        self.facts = tuple(facts)
        self.program = linked(self.facts, catalogue, unread)
        self.tables = tables(catalogue, torch)
        self.imports = {each.path: frozenset(filter(None, self._imports(each))) for each in self.facts}
        self._imported = frozenset().union(*self.imports.values())
        self.errors: list[str] = []  # what could not be followed
        self._started: set[object] = set()  # the processes that have been followed, by what they are given
        self._ends: list[tuple[str, State]] = []  # the files that programs start with, and how these end
        self.entries = list(self._entries(commands))
        self.program.finish()
        self._answers = Answers(self.program, self.entries, self._ends)

    def _entries(self, commands: Iterable[Command]) -> Iterator[Entry]:
        mains: dict[str, Entry] = {}
        for facts in self.facts:
            kind = self._kind(facts)
            if kind:
                mains[facts.path] = Entry(facts.path, kind, self_check=self.is_self_check(facts))
                yield from self._run(mains[facts.path], facts.path, None)
        for name, target, setup in commands:
            module, _, function = target.partition(":")
            path = self.program.imports.find(module, setup)
            self.program.asked.add((path or "", function))
            found = self.program.facts[path].functions if path in self.program.facts else {}  # or it was not given
            qualified = next(
                (q for q in found if head(found, q).kind == "function" and found[q].name == function), None
            )
            if path is not None and qualified is not None:
                entry = Entry(path, "command", name, found[qualified].place, target=function)
                known = mains.get(path)
                if known is not None and self._runs_only(path, function):
                    yield replace(entry, trace=known.trace, end=known.end, initialisers=known.initialisers)
                else:
                    yield from self._run(entry, self._beside(path), Function(path, qualified))

    def _beside(self, path: str) -> str:
        """A file beside the package that a file belongs to: an installed command does not search the file's folder."""
        while (package := self.program.package(path)) is not None:
            path = package
        return f"{folder(folder(path) if path.endswith('/__init__.py') else path)}/-"

    def _runs_only(self, path: str, function: str) -> bool:
        """Whether the `__main__` block of a file does nothing but call a function without arguments."""
        blocks = [node for node in self.program.facts[path].top if isinstance(node, f.Branch) and _is_main(node.test)]
        calls = [node.value for block in blocks for node in block.body if isinstance(node, f.Do)]
        alone = len(calls) == 1 and len(blocks[0].body) == 1
        return (
            alone
            and isinstance(calls[0], f.Call)
            and calls[0].function == f.Global(function)
            and not calls[0].arguments
        )

    def _kind(self, facts: Facts) -> str:
        """What kind of entry point a file is, if any."""
        if facts.path.endswith(".ipynb"):
            return "notebook"
        if facts.guarded or facts.path.endswith("__main__.py"):
            return "main"
        alone = not is_test(facts.path) and facts.path not in self._imported
        return "script" if alone and facts.acts and ("." not in facts.module or _ends_in_own_call(facts)) else ""

    def _is_configuration(self, facts: Facts) -> bool:
        """Whether a file in a folder of configurations only assigns, for a program that reads it as it runs."""
        kept = folder(facts.path).rpartition("/")[2] in self.program.catalogue.names("program", "configuration")
        return kept and not any(
            isinstance(each, (f.Loop, f.Scoped)) or (isinstance(each, f.Do) and isinstance(each.value, f.Call))
            for each in f.walk(facts.top)
        )

    def _run(self, entry: Entry, script: str, function: Function | None) -> Iterator[Entry]:
        """Run an entry point, and then what it starts in new processes."""
        run = self._follow(entry, script, function, ())
        objects = self.program.objects
        known = entry.kind != "script" or bool(entry.trace or run.spawned)
        if entry.kind != "script" or self.program.facts[script].lasting:
            self._ends.append((script, entry.end))  # not of one that another may load, such as a configuration
        if known:
            yield entry  # a script that does nothing of interest is a configuration, as likely as not
        for started, positional in {function: positional for function, positional, _ in reversed(run.spawned)}.items():
            given = (started, *(frozenset(getattr(a, "kind", a) for a in value) for value in positional))
            if given in self._started:  # another script starts the same
                continue
            self._started.add(given)
            target = self.program.function(started)
            inner = Entry(started.path, "process", target.name, target.place, target=target.name)
            self._follow(inner, script, started, positional, objects, entry.path)
            self._ends.append((started.path, inner.end))
            yield inner

    def _follow(
        self,
        entry: Entry,
        script: str,
        function: Function | None,
        positional: Sequence[Value],
        starter: Objects | None = None,
        main: str = "",
    ) -> Interpreter:
        """Run a script as the main program, or a function of a module that is imported first.

        `starter` has the objects of the process that starts this one with `positional`; a new process begins by
        importing the file that the program started with, `main`.
        """
        shared = self.program.objects.shared or self.program.objects
        self.program.objects, self.program.memo = Objects(self.program.catalogue, shared), {}
        if starter is not None:
            self.program.objects.carry(positional, starter)
        run = Interpreter(self.program, script, self.tables)
        try:
            if function is None:
                environment = self.program.reset(script)
                walk = self.program.begin(script, f.TOP)
                walk.append((0, entry.end))
                run.frame = Frame(script, f.TOP, environment.variables, walk, main=True, top=True)
                run.block(tuple(self.program.facts[script].top))
            else:
                for path in filter(None, (main, function.path)):
                    run.load(path)
                if run.state is not None:
                    run.call(function, positional, {}, entry.place or Place(script, 1, 1, 1, 1))
        except RecursionError:
            self.errors.append(f"{entry.path}: the program that starts here is nested too deeply to be followed")
            return run
        finally:
            self.program.end()
        entry.trace, entry.initialisers = tuple(run.trace), self.tables.initialisers
        entry.end = run.state if run.state and not run.frame.left else run.frame.end or run.state or entry.end
        return run

    def _imports(self, facts: Facts) -> Iterator[str | None]:
        """The files that a file imports, at its top level or in a function."""
        imports, path = self.program.imports, facts.path
        for level, target in imported(facts):
            yield imports.relative(path, level, target) if level else imports.find(target, path, path)

    def reached(self) -> dict[str, Reached]:
        """What the programs came to in each file; files that none runs are left out."""
        names, functions = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for path, name in self.program.asked:
            names[path].append(name)
        for path, qualified in self.program.walks:
            functions[path].append(qualified)
        return {path: Reached.of(names[path], functions[path]) for path in sorted(functions)}

    def is_self_check(self, facts: Facts) -> bool:
        """Whether a file's `__main__` block only tries out what it offers to others, or all of it is for others."""
        unused = not facts.lasting and ("." in facts.module or facts.path in self._imported)
        return unused or self._is_configuration(facts)

    def remedies(self, entries: Iterable[Entry]) -> tuple[Remedy, ...]:
        """What there is to repair in these entry points."""
        return tuple(each for entry in entries if (each := remedy(entry, self._targets)) is not None)

    @cached_property
    def _targets(self) -> frozenset[tuple[str, str]]:
        """The functions that are entry points, by path and name."""
        return frozenset((entry.path, entry.target) for entry in self.entries if entry.target)

    def holds(self, question: Question) -> bool:
        """Whether the programs of the project answer a question with yes; False where nobody knows."""
        return self._answers.holds(question)


def _ends_in_own_call(facts: Facts) -> bool:
    """Whether the top level of a file ends in a call of its own function, as that of a script in a package does."""
    last = facts.top[-1] if facts.top else None
    called = last.value.function if isinstance(last, f.Do) and isinstance(last.value, f.Call) else None
    own = (each.name for each in facts.functions.values() if each.kind == "function")
    return isinstance(called, f.Global) and called.name in own and not facts.path.endswith("__init__.py")


def _is_main(test: f.Expression) -> bool:
    """Whether a test asks if a file is run as the main program."""
    return isinstance(test, f.Compare) and test.operator == "==" and f.Global("__name__") in (test.left, test.right)
