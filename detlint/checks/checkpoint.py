"""DET701: a checkpoint to resume from that keeps the optimizer's state but no random state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from detlint.analysis.checkpoints import Checkpoints, Resumed, Saved
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.editing.importing import WIDTH
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Dicts that the file saves and resumes from, where training draws and nothing restores the generators."""
    checkpoints = Checkpoints(module)
    if not checkpoints.resumed or checkpoints.keeps_states or checkpoints.seeds_anew or checkpoints.draws is False:
        return
    for saved in checkpoints.saved():
        resumed = [each for each in checkpoints.resumed if each.key in saved.optimizers]
        if resumed:
            fix = _fix(module, saved, resumed, checkpoints.has_ranks)
            related = [(resumed[0].call, "the run is resumed here")]
            lowered = checkpoints.draws is None
            yield module.finding(rule, saved.node, related=related, lowered=lowered, fix=fix)


def _fix(module: Module, saved: Saved, resumed: Sequence[Resumed], has_ranks: bool) -> Fix | None:
    """Save the random state with the rest, and restore it wherever the optimizer's is."""
    last = {(id(_block(each.call)), module.source(each.loaded)): each for each in resumed}
    return edits.fix(
        "Save and restore the random state",
        *_entry(module, saved.node),
        *(_restored(module, each) for each in last.values()),
        # one process's state would be given to all
        safety=Safety.DISPLAY if has_ranks else Safety.UNSAFE,
        imports=edits.runtime(module, "rng_state", "set_rng_state"),
    )


def _block(node: s.Node) -> s.Node | None:
    return next((a for a in node.ancestors() if isinstance(a, s.Block)), None)


def _entry(module: Module, node: s.Dictionary | s.Call) -> list[Edit | None]:
    """One more entry after the last one, laid out as that is; the first one in an empty dict."""
    if isinstance(node, s.Call):
        return [edits.last(module, node, "rng_state=rng_state()")]
    start, end = module.span(node)
    if not node.keys:
        return [Edit(module.at(start + 1, start + 1), '"rng_state": rng_state()')]
    text, key = module.text, node.keys[-1]
    begin, after = module.span(key) if key is not None else (start, start)
    after = module.span(node.values[-1])[1]
    while closing := re.compile(r"\s*\)").match(text, after, end - 1):
        after = closing.end()
    comma = re.compile(r"\s*,").match(text, after, end - 1)
    line = text.rfind("\n", 0, begin) + 1
    indent = text[line:begin]
    entry = f"{_quoted(module, node.keys[0])}: rng_state()"
    if line <= start or indent.strip():
        spread = _spread(module, node, entry)
        if spread is not None:
            return [spread]
        put, new = (comma.end(), f" {entry},") if comma else (after, f", {entry}")
        return [Edit(module.at(put, put), new)]
    put = comma.end() if comma else after
    comment = re.compile(r"[ \t]*#[^\r\n]*").match(text, put, end - 1)
    if comment is None:
        new = f"\n{indent}{entry}," if comma else f",\n{indent}{entry}"
        return [Edit(module.at(put, put), new)]
    ahead = [] if comma else [Edit(module.at(put, put), ",")]
    return [*ahead, Edit(module.at(comment.end(), comment.end()), f"\n{indent}{entry}{',' if comma else ''}")]


def _spread(module: Module, node: s.Dictionary, entry: str) -> Edit | None:
    """The entries and one more, each on a line of its own, where one line would be too long with it; else None."""
    start, end = module.span(node)
    text = module.text
    line = text.rfind("\n", 0, start) + 1
    length = len(text[line:].partition("\n")[0].rstrip())
    if "\n" in text[start:end] or not length <= WIDTH < length + len(entry) + 2:
        return None
    indent = text[line : len(text) - len(text[line:].lstrip(" \t"))]
    begins = [module.span(key)[0] for key in node.keys if key is not None]
    rows = [text[begin:after].rstrip(" \t,") for begin, after in pairwise([*begins, end - 1])]
    if any(row.count("(") != row.count(")") for row in rows):
        return None
    lines = "".join(f"\n{indent}{_unit(text)}{row}," for row in [*rows, entry])
    return Edit(module.at(start + 1, end - 1), f"{lines}\n{indent}")


def _quoted(module: Module, key: s.Node | None) -> str:
    """The new key, quoted as another one is."""
    quote = module.source(key)[:1] if key is not None else ""
    return "'rng_state'" if quote == "'" else '"rng_state"'


def _restored(module: Module, resumed: Resumed) -> Edit | None:
    """The state restored on the lines after the statement that loads the optimizer's; None where there is no room."""
    statement, text = resumed.call.parent, module.text
    if not isinstance(statement, s.ExpressionStatement) or resumed.entry is not resumed.call.arguments[0].value:
        return None
    start, end = module.span(statement)
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    indent = text[line:start]
    rest = re.compile(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|\Z)").match(text, end)
    if indent.strip(" \t\f") or rest is None:
        return None
    key, loaded = _quoted(module, _key(resumed.entry)), module.source(resumed.loaded)
    new = f"\n{indent}if {key} in {loaded}:\n{indent}{_unit(text)}set_rng_state({loaded}[{key}])"
    return Edit(module.at(rest.end(), rest.end()), new)


def _key(entry: s.Node) -> s.Node | None:
    """The key of a subscript, or the first argument of `get`."""
    if isinstance(entry, s.Subscript):
        return entry.indices[0]
    return entry.arguments[0].value if isinstance(entry, s.Call) else None


def _unit(text: str) -> str:
    """What the file indents a block by."""
    found = re.search(r"^(?:def|class|if|for|while|with|try|else)\b[^\r\n]*:[ \t]*\r?\n([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "    "
