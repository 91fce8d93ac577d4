"""A frame: one evaluation of a function in a context, its variables, and what it does on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from detlint.domain.atoms import (
    AllocationSite,
    Atom,
    Choice,
    ClassRef,
    FunctionRef,
    GeneratorCall,
    Instance,
    LibraryRef,
    ModuleRef,
)
from detlint.domain.bare import bare, is_plain
from detlint.domain.choices import choosable, leaves, opened
from detlint.domain.codes import Code
from detlint.domain.dicts import entrywise
from detlint.domain.effects import Branch, Effect, Effects
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import CONTENTS, Attribute, Cell, shared_cells
from detlint.domain.summaries import Flow, Passed
from detlint.domain.values import NOTHING, UNKNOWN, Value, has_formal, has_parts, mapped, value_of
from detlint.interpreter import unsettled
from detlint.interpreter.environments import OWN, begins, seen_as
from detlint.interpreter.environments import Environment as Environment
from detlint.interpreter.environments import Key as Key
from detlint.interpreter.environments import Loop as Loop
from detlint.interpreter.environments import Path as Path
from detlint.interpreter.environments import own as own
from detlint.interpreter.solver import Entry, Solver
from detlint.interpreter.substitution import replaced
from detlint.interpreter.tables import Tables
from detlint.ir import nodes as ir

R = TypeVar("R")
Order = tuple[ClassRef | LibraryRef, ...]
"""The classes whose attributes those of a class are, first to last."""


class Frame:
    """One evaluation of an entry of the table.

    `env` is None where no way leads to. `dirty` are the keys whose values others see, `flushed` what the heap has of
    these. It gets what was given here alone: what others left there and is read again stays theirs.
    """

    def __init__(self, solver: Solver, entry: Entry, tables: Tables) -> None:
        self.solver = solver
        self.join = solver.lattice.join
        self.entry = entry
        self._resolved: dict[Value, Value] = {}
        self._concrete: dict[Value, Value] = {}
        self.versioned: dict[tuple[Instance, str], tuple[int, Value]] = {}  # what attributes hold, until the heap grows
        self.node = entry.node
        self.file = entry.file
        self.function = entry.function
        self.tables = tables
        self.orders: dict[ClassRef, tuple[int, Order]] = {}  # of classes, until one derives from another
        self.env: Environment | None = {}
        self.dirty: dict[Key, None] = {}
        self.flushed: dict[Key, Value] = {}
        self.cells: dict[Path, tuple[Cell, ...]] = {}
        self.just: tuple[AllocationSite, Value] | None = None  # the dict that was made last here, and its entries
        self.own_dicts: dict[Path, None] = {}  # the keys of dicts that were made here, which may still be settled
        self.bits: dict[Key, int] = {}  # what writes of these are known by
        self.assigned: set[Path] = set()  # paths that were given a value, rather than narrowed by a test
        self.effects: list[Effect] = []
        self.flows: dict[Flow, None] = {}
        self.passed: list[Passed] = []
        self.returns = NOTHING
        self.yields = NOTHING
        self.changed: dict[str, None] = {}  # parameters that in-place methods changed
        self.left: dict[str, Value] = {}  # what these hold where the function is left
        self.writes = 0
        self.loops: list[Loop] = []
        self.trying = 0  # how many `try` are open whose handlers may take an error
        self.using: set[tuple[str, AllocationSite]] = set()  # the library objects that are being called or gone over
        self.risky = False  # whether something was done that may raise an error
        self.iterating = -1  # the node of the loop or the call that goes over something
        self.row = 0  # which item a loop is at that goes through what is written down
        self.defining = bare(entry.node.context)  # the context that functions within this one are told by
        self.is_top = entry.function.qualified in (ir.TOP, ir.MAIN)

    # Evaluation

    def evaluate(self, expression: ir.Expression) -> Value:
        """The value of an expression, and what evaluating it does."""
        self.solver.expressions += 1
        if self.env is None:
            return NOTHING
        found = self.tables.expressions[type(expression)](self, expression)
        if self.own_dicts and not found.atoms:
            unsettled.wait(self)
        return found

    def execute(self, statements: ir.Statements) -> None:
        """Run statements until one surely leaves."""
        handlers = self.tables.statements
        for statement in statements:
            if self.env is None:
                return
            self.just = None
            handlers[type(statement)](self, statement)

    def code(self, node: int) -> Code:
        """The name of a node of this function."""
        return Code(self.file.path, self.function.qualified, node)

    def once(self, way: str, site: AllocationSite, run: Callable[[], R], otherwise: R) -> R:
        """Do something with an object, unless that is being done and it is in itself."""
        if (way, site) in self.using:
            return otherwise
        self.using.add((way, site))
        found = run()
        self.using.discard((way, site))
        return found

    # Parameters

    def resolve(self, value: Value) -> Value:
        """A value with what callers gave in the place of parameters; taints stay as they are."""
        if not has_formal(value):
            return value
        found = self._resolved.get(value)
        if found is None:
            found = replaced(self.solver, value, self.entry.inputs).with_taints(value.taints, value.certain)
            self._resolved[value] = found
        return found

    def each(self, value: Value) -> list[Atom]:
        """The atoms of a value, resolved, in an order that no run changes; objects whatever option chooses them."""
        value = self.resolve(value)
        return list(opened(value.atoms)) if has_parts(value.atoms) else self.solver.lattice.each(value)

    def concrete(self, value: Value) -> Value:
        """A value as the heap and callees get it: with the taints that callers gave as well."""
        if not value.taints and not has_formal(value):
            return self.deep(value)
        found = self._concrete.get(value)
        if found is None:
            found = self._concrete[value] = self.deep(replaced(self.solver, value, self.entry.inputs))
        return found

    def deep(self, value: Value) -> Value:
        """A value whose parts are concrete as well."""
        if not has_parts(value.atoms):
            return value
        return value.of(mapped(atom, self.concrete) for atom in value.atoms)

    # Variables

    def get(self, key: Key) -> Value | None:
        """What a variable or an access path was last given here; None where nothing was."""
        return self.env.get(key) if self.env is not None else None

    def assign(self, key: Key, value: Value, cells: tuple[Cell, ...] = ()) -> None:
        """Give a variable or an access path a value; paths that begin with it end."""
        env = self.env
        if env is None:
            return
        self.end(key)
        if isinstance(key, tuple):
            self.cells[key] = cells
            self.bits.pop(key, None)
            self.assigned.add(key)
        self.put(key, value)

    def end(self, key: Key) -> None:
        """End the paths that begin with a key."""
        env = self.env
        if self.cells and env is not None:
            for path in [path for path in self.cells if path in env and path != key and begins(path, key)]:
                self.flush_key(path)
                del env[path]
                env.pop(own(path), None)

    def narrow(self, path: Path, value: Value, cells: tuple[Cell, ...]) -> None:
        """Let a path be a value on this way alone, whatever its cells hold."""
        if self.env is not None:
            self.end(path)
            self.cells[path] = cells
            self.bits.pop(path, None)
            self.env[path] = value

    def put(self, key: Key, value: Value) -> None:
        """Give a variable or an access path a value that leaves the paths that begin with it as they are."""
        if self.env is not None:
            self.env[key] = value
            if isinstance(key, tuple) or key[0] == "." or key in self.function.shared:
                self.dirty[key] = None
                self.env[own(key)] = value

    def cells_of(self, key: Key) -> tuple[Cell, ...]:
        """The cells in which others see a variable or an access path."""
        if isinstance(key, tuple):
            return self.cells.get(key, ())
        if key[0] == ".":
            return ((ModuleRef(self.file.path), Attribute(key[1:])),)
        return shared_cells(FunctionRef(self.file.path, self.function.qualified), self.defining, key)

    def flush(self) -> None:
        """Leave in the heap what variables that others see and access paths hold."""
        unsettled.settle_all(self)
        for key in self.dirty:
            self.flush_key(key)

    def flush_key(self, key: Key) -> None:
        """Leave in the heap what one key was given here."""
        value = self.get(own(key))
        if value is not None and key in self.dirty and self.flushed.get(key) is not value:
            self.flushed[key] = value
            for cell in self.cells_of(key):
                self.write(cell, value)

    def leave(self) -> None:
        """Leave the function: others see what it wrote, and its caller what it changed."""
        self.flush()
        for name in self.changed:
            self.left[name] = self.join(self.left.get(name, NOTHING), self.get(name) or NOTHING)

    def write(self, cell: Cell, value: Value) -> None:
        """Leave a value in a cell that callers may hold the value of; a module's own variables they do not."""
        if not (self.is_top and isinstance(cell[0], ModuleRef)):
            self.writes |= self.solver.heap.bit(seen_as(cell))
        self.fill(cell, value)

    def fill(self, cell: Cell, value: Value) -> None:
        """Leave a value in a cell of something that is made here: nobody holds anything of it yet."""
        self.solver.write(self.entry, cell, self.concrete(value))

    def touch(self, cell: Cell, value: Value) -> None:
        """A cell may have another value from here on: so may the access paths to it."""
        for key, cells in self.cells.items():
            if cell in cells and self.env is not None and key in self.env:
                self.env[key] = self.join(self.env[key], value)

    def read(self, cell: Cell) -> Value:
        """What a cell holds."""
        return self.solver.read(self.entry, cell)

    def after_call(self, writes: int) -> None:
        """Join what a call may have written to variables and paths with what these hold."""
        self.writes |= writes
        env = self.env
        if env is None:
            return
        for key in list(env):
            if isinstance(key, str) and key[0] != "." and key not in self.function.shared:
                continue
            if key[0] == OWN:
                continue
            bits = self.bits.get(key)
            if bits is None:
                bits = self._bits(key)
            self.entry.watched |= bits
            if bits & writes:
                for cell in self.cells_of(key):
                    env[key] = self.join(env[key], self.solver.read_others(self.entry, cell))

    def _bits(self, key: Key) -> int:
        """What writes of a variable or an access path are known by."""
        bits = 0
        for cell in self.cells_of(key):
            bits |= self.solver.heap.bit(seen_as(cell))
        self.bits[key] = bits
        return bits

    # What is done

    def emit(self, effect: Effect) -> None:
        """Add to what the function does."""
        self.effects.append(effect)

    def branch(self, outcome: Outcome, body: Effects, orelse: Effects) -> None:
        """Add the effects of two arms: of both under what decides, or of the one that there is."""
        if not (outcome.may_hold and outcome.may_fail):
            self.effects.extend((*body, *orelse))
        elif body == orelse:
            self.effects.extend(body)
        elif body or orelse:
            self.emit(Branch(outcome.option, outcome.set, body, orelse, outcome.sure, outcome.others))

    def within(self, run: Callable[[], R]) -> tuple[Effects, R]:
        """The effects of what `run` does, apart from those so far, and what it gives."""
        outer, self.effects = self.effects, []
        given = run()
        inner, self.effects = tuple(self.effects), outer
        return inner, given

    def effects_of(self, statements: ir.Statements) -> Effects:
        """The effects of running statements, apart from those so far."""
        outer, self.effects = self.effects, []
        self.execute(statements)
        inner, self.effects = tuple(self.effects), outer
        return inner

    def apart(self, expression: ir.Expression) -> tuple[Effects, Value]:
        """The effects of evaluating an expression, apart from those so far, and its value."""
        return self.within(lambda: self.evaluate(expression))

    def merge(self, environments: Iterable[Environment | None]) -> Environment | None:
        """What variables hold where several ways meet; a path that one way did not take is read from the heap there."""
        ways = [env for env in environments if env is not None]
        if not ways:
            return None
        merged = dict(ways[0])
        for env in ways[1:]:
            if env is ways[0]:
                continue
            for key, value in list(env.items()):
                old = merged.get(key)
                if old is value:
                    continue
                if old is None:
                    if unsettled.of_dict(key):
                        self.fill((key[1], CONTENTS), value)  # type: ignore[arg-type]
                        continue
                    if key[0] == OWN:
                        merged[key] = value
                        continue
                    if isinstance(key, tuple) and key not in self.assigned:
                        continue
                    old = self._elsewhere(key, ways[0])
                merged[key] = self.join(old, value)
            for key in [key for key in merged if key not in env and key[0] != OWN]:
                if isinstance(key, tuple) and key not in self.assigned:
                    del merged[key]
                else:
                    merged[key] = self.join(merged[key], self._elsewhere(key, env))
        unsettled.settle_merged(self, merged, ways)
        return merged

    def merge_arms(self, outcome: Outcome, then: Environment | None, other: Environment | None) -> Environment | None:
        """What variables hold after two arms: where an option decides, what one holds is a choice by that."""
        merged = self.merge((then, other))
        if merged is not None and then is not None and other is not None and outcome.option is not None:
            for key, value in then.items():
                if key in other and other[key] != value and (key[0] != OWN or unsettled.of_dict(key)):
                    merged[key] = self.chosen(outcome, value, other[key])
        return merged

    def chosen(self, outcome: Outcome, then: Value, other: Value) -> Value:
        """One of two values: a choice where an option decides between plain ones, or between objects."""
        if outcome.option is not None:
            of_dicts = entrywise(then, other, partial(self.chosen, outcome))
            if of_dicts is not None:
                return of_dicts
        plain = (then.atoms or other.atoms) and all(is_plain(atom) for atom in then.atoms | other.atoms)
        plain = plain or (then.atoms and other.atoms and choosable((*leaves(then), *leaves(other))))
        if outcome.option is None or not (outcome.may_hold and outcome.may_fail) or not plain or then == other:
            return self.begun(outcome, then, other)
        return self._chosen(outcome, then, other)

    def begun(self, outcome: Outcome, then: Value, other: Value) -> Value:
        """Either of two values: an option decides no more than which generator function runs that was called."""
        found = self.join(then, other)
        decided = outcome.option is not None and outcome.may_hold and outcome.may_fail
        if not decided or not any(isinstance(atom, GeneratorCall) for atom in found.atoms):
            return found
        arms = (value.of(a for a in value.atoms if isinstance(a, GeneratorCall)) for value in (then, other))
        rest = found.of(atom for atom in found.atoms if not isinstance(atom, GeneratorCall))
        return self.join(rest, self._chosen(outcome, *arms))

    def _chosen(self, outcome: Outcome, then: Value, other: Value) -> Value:
        """A choice of two values by the options that decide."""
        default, set_ = (other, then) if outcome.set else (then, other)
        taints, certain = then.taints | other.taints, then.certain & other.certain
        if not outcome.sure:
            set_ = self.join(default, set_)
        for option in reversed(outcome.options):
            default = value_of(Choice(option, default, set_))
        return self.solver.lattice.bounded(default.with_taints(taints, certain))

    def _elsewhere(self, key: Key, env: Environment) -> Value:
        """What a key holds on a way that gave it nothing."""
        if isinstance(key, str):
            if key[0] != "." or self.is_top:
                return NOTHING
            return self.read((ModuleRef(self.file.path), Attribute(key[1:])))
        base = env.get(key[:-1] if len(key) > 2 else key[0])
        slot = key[-1]
        if isinstance(slot, Attribute):
            return UNKNOWN if base is None else self.tables.attribute(self, base, slot.name)
        now, self.env = self.env, env
        found = self.tables.entry(self, base or NOTHING, slot.key, key[:-1] if len(key) > 2 else key[0])
        self.env = now
        return found
