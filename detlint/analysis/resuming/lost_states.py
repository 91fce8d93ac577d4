"""DET701 for code that keeps states of generators, but not all that it puts back or draws from."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.kept_states import (
    Group,
    State,
    excludes,
    gathered,
    generators,
    match,
    put_back,
    restored,
    taken,
)
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.editing.names import library_name
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.questions import DrawsInTraining, Loses, Reseeded
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def lost_states(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each state put back but not saved, or saved but not put back, and each generator left out."""
    rows, back, gathers = generators(module.catalogue), list(restored(module)), list(gathered(module))
    for kept in gathers:
        matched = [group for group in back if match(kept, group)]
        for group in matched:
            for name in sorted(_generators(kept) - _generators(group)):
                if all(_is_elsewhere(each, group) for each in put_back(module) if each.generator == name):
                    yield _untaken(module, rule, rows[name], kept, group)
        for name in sorted(frozenset[str]().union(*map(_generators, matched)) - _generators(kept)):
            if all(each.generator != name for each in taken(module)):
                yield _unsaved(module, rule, rows[name], kept, matched)
        for name, row in rows.items():
            node = next((each.call for each in kept if each.generator == name), None)
            if node is not None and all(each.generator != name for each in put_back(module)) and not matched:
                yield _of_programs(module, rule, row, node, "saved")
            elif node is None and _may_be_left(module, name, kept):
                yield _of_programs(module, rule, row, _holder(kept), "left")
    for group in back:
        places = tuple(module.place(each.call) for each in group)
        first, full = group[0], DrawsInTraining(module.path)
        yield _finding(
            module, rule, first.call, rows[first.generator], "reseeded", full_if=full, only_if=Reseeded(places)
        )
        if not any(match(kept, group) for kept in gathers):
            for each in group:
                if each.key is not None and all(one.generator != each.generator for one in taken(module)):
                    yield _of_programs(module, rule, rows[each.generator], each.call, "restored")


def _of_programs(module: Module, rule: Rule, row: Row, node: s.Node, how: str) -> Finding:
    """Return a finding that depends on programs: none puts a state back or saves it, or they draw from what is lost."""
    full = DrawsInTraining(module.path, row.id)
    return _finding(module, rule, node, row, how, full_if=full, only_if=Loses(module.path, row.id, how))


def _may_be_left(module: Module, name: str, kept: Group) -> bool:
    """Return whether the file never handles the state of a generator, nor keeps another entry that may be one."""
    return all(each.generator != name for each in (*taken(module), *put_back(module))) and _is_kept(module, kept)


def _generators(group: Group) -> frozenset[str]:
    return frozenset(each.generator for each in group)


def _is_elsewhere(state: State, group: Group) -> bool:
    """Return whether a state is put back in another arm of the function that puts others back here."""
    return any(excludes(state, each) for each in group)


def _is_kept(module: Module, kept: Group) -> bool:
    """Return whether no known entry that is kept with the states may be the state of another kind of generator."""
    holder = next((each.holder for each in kept if each.holder is not None), None)
    entries = Checkpoints(module).entries(holder) if isinstance(holder, s.Expression) else None
    calls = {each.call for each in kept}
    others = [(key, value) for key, value in entries or () if value is None or calls.isdisjoint(s.walk(value))]
    return not any(Checkpoints(module).may_be_state(key, value) for key, value in others)


def _holder(kept: Group) -> s.Node:
    """Return where the states are kept: the display of a dict, or the call that takes the first one."""
    displays = (each.holder for each in kept if isinstance(each.holder, s.Dictionary))
    return next(displays, kept[0].call)


def _untaken(module: Module, rule: Rule, row: Row, kept: Group, group: Group) -> Finding:
    """Return a finding on a state that is saved but not put back with the others."""
    saved = next(each for each in kept if each.generator == row.id)
    fix = _fix(module, row, "Put the state back", _call_behind(module, row, saved, group), group[0])
    return _finding(module, rule, group[0].call, row, "untaken", fix=fix, related=(saved.call, "it is saved here"))


def _unsaved(module: Module, rule: Rule, row: Row, kept: Group, matched: list[Group]) -> Finding:
    """Return a finding on a state that is put back but not saved with the others."""
    back = next(each for group in matched for each in group if each.generator == row.id)
    fix = _fix(module, row, "Save the state", _entry(module, row, back, _holder(kept)), kept[0])
    return _finding(module, rule, _holder(kept), row, "unsaved", fix=fix, related=(back.call, "it is put back here"))


def _finding(
    module: Module,
    rule: Rule,
    node: s.Node,
    row: Row,
    problem: str,
    *,
    fix: Fix | None = None,
    related: tuple[s.Node, str] | None = None,
    full_if: DrawsInTraining | None = None,
    only_if: Loses | Reseeded | None = None,
) -> Finding:
    words = {"called": row.text("called"), "gives": row.list("gives")[0], "takes": row.list("takes")[0]}
    return module.finding(
        rule,
        node,
        related=() if related is None else (related,),
        full_if=full_if or DrawsInTraining(module.path, row.id, alone=True),
        only_if=only_if,
        fix=fix,
        problem=rule.data[problem].format(**words),
        because=rule.data["draws"],
        remedy=rule.data[f"{problem}_remedy"].format(**words),
    )


# Fixes


def _fix(module: Module, row: Row, title: str, edit: Edit | None, near: State) -> Fix | None:
    _, imports = library_name(module, _library(row), near.call)
    return edits.fix(title, edit, safety=Safety.UNSAFE, imports=imports)


def _library(row: Row) -> str:
    return row.list("takes")[0].partition(".")[0]


def _spelled(module: Module, row: Row, key: str, near: State, like: str) -> str:
    """Return a row's function as the file writes it; of several, the one that ends in `_all` or not, as `like` does."""
    names = row.list(key)
    name = next((each for each in names if each.endswith("_all") is like.endswith("_all")), names[0])
    alias, _ = library_name(module, _library(row), near.call)
    return f"{alias}.{name.partition('.')[2]}"


def _call_behind(module: Module, row: Row, saved: State, group: Group) -> Edit | None:
    """Return the edit that adds the call that puts a state back, after the last such call of the others; or None."""
    known = [each for each in group if each.holder is not None and isinstance(each.call.parent, s.ExpressionStatement)]
    plain = [each for each in known if _block(each.call) is _block(group[0].call)]
    if not plain or saved.key is None or not isinstance(plain[-1].holder, (s.Name, s.Attribute)):
        return None
    last = plain[-1]
    statement = last.call.parent
    function = _spelled(module, row, "takes", last, module.source(saved.call.function))
    key = saved.key if saved.key.isdecimal() else repr(saved.key).replace("'", '"')
    made = edits.new(f"{function}({{holder}}[{key}])", holder=last.holder or "")
    return None if statement is None else edits.behind(module, statement, made)


def _block(node: s.Node) -> s.Node | None:
    return next((each for each in node.ancestors() if isinstance(each, s.Block)), None)


def _entry(module: Module, row: Row, back: State, holder: s.Node) -> Edit | None:
    """Return the edit that adds an entry that keeps a state with the others; or None."""
    if not isinstance(holder, s.Dictionary) or back.key is None:
        return None
    quote = module.source(holder.keys[0])[:1] if holder.keys and holder.keys[0] is not None else '"'
    quote = quote if quote in ("'", '"') else '"'
    function = _spelled(module, row, "gives", back, module.source(back.call.function))
    return edits.entry(module, holder, f"{quote}{back.key}{quote}", f"{function}()")
