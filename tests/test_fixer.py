"""Fixes: which are chosen, what is applied, what is left and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from detlint.applying import fixer
from detlint.applying.fixer import Change, Settings, apply, fix_project
from detlint.applying.rewriting import BadEditError, moved, rewrite
from detlint.finding import Edit, Finding, Fix, Import, Place, Safety
from detlint.sources.source import UnreadableError
from detlint.tree.positions import Lines

PATH = "a.py"


def place(text: str, marked: str, path: str = PATH, which: int = 0) -> Place:
    """Where `marked` stands in a text; a "|" in it marks the place between two characters."""
    start = [match.start() for match in re.finditer(re.escape(marked.replace("|", "")), text)][which]
    start, end = (start + marked.index("|"),) * 2 if "|" in marked else (start, start + len(marked))
    lines = Lines(text)
    return Place(path, *lines.position(start), *lines.position(end))


def finding(
    *edits: Edit, code: str = "DET900", safety: Safety = Safety.SAFE, imports: tuple[Import, ...] = ()
) -> Finding:
    return Finding(code, min(edit.place for edit in edits), "wrong", fix=Fix("Mend it", safety, edits, imports))


def replace(text: str, old: str, new: str, which: int = 0, path: str = PATH) -> Edit:
    return Edit(place(text, old, path, which), new)


def applied(text: str, *findings: Finding, unsafe: bool = False) -> str:
    texts = apply(findings, lambda path: text, Settings(unsafe)).texts
    return texts.get(PATH, text)


def reasons(text: str, *findings: Finding, unsafe: bool = False) -> list[tuple[str, str]]:
    left = apply(findings, lambda path: text, Settings(unsafe)).left
    return [(each.finding.code, each.reason) for each in left]


# Edits


def test_all_edits_of_a_fix_are_made() -> None:
    text = "f(a)\ng(b)\n"
    assert applied(text, finding(replace(text, "a", "A"), replace(text, "b|", ", c"))) == "f(A)\ng(b, c)\n"


def test_edits_of_one_fix_may_touch_and_keep_their_order() -> None:
    text = "f(a)\n"
    edits = [
        Edit(place(text, "|a"), "x"),
        Edit(place(text, "|a"), "y"),
        replace(text, "a", "b"),
        Edit(place(text, "a|"), "z"),
    ]
    assert applied(text, finding(*edits)) == "f(xybz)\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_new_lines_end_as_the_line_they_begin_in(newline: str) -> None:
    text = f"f(a){newline}g(b)"
    assert rewrite(PATH, text, [Edit(place(text, "|f"), "x = 1\n")]) == f"x = 1{newline}f(a){newline}g(b)"
    assert rewrite(PATH, text, [Edit(place(text, "g(b)|"), "\nx = 1\n")]) == f"f(a){newline}g(b){newline}x = 1{newline}"


def test_each_line_of_a_mixed_file_keeps_its_end() -> None:
    text = "a = 1\r\nb = 2\nc = 3\rd = 4\n"
    edits = [Edit(place(text, f"|{name} ="), f"{name}{name} = 0\n") for name in "abcd"]
    expected = "aa = 0\r\na = 1\r\nbb = 0\nb = 2\ncc = 0\rc = 3\rdd = 0\nd = 4\n"
    assert rewrite(PATH, text, edits) == expected


def test_what_is_outside_of_edits_is_kept() -> None:
    text = "\x0c'\u2028\x0b\x1c\x85'\t# \r\nf(a)  \n\n\tx"
    assert rewrite(PATH, text, [replace(text, "a", "b")]) == text.replace("f(a)", "f(b)")


@pytest.mark.parametrize("at", [(9, 1, 9, 1), (1, 1, 9, 1), (1, 99, 1, 99), (1, 3, 1, 1)])
def test_an_edit_must_fit(at: tuple[int, int, int, int]) -> None:
    edit = Edit(Place(PATH, *at), "x")
    with pytest.raises(BadEditError):
        rewrite(PATH, "f(a)\n", [edit])
    assert reasons("f(a)\n", finding(edit)) == [("DET900", fixer.BAD_EDIT)]


def test_a_place_moves_with_the_lines_above_it() -> None:
    text = "a\nb\nc\nd\n"
    edits = [Edit(place(text, "|a"), "x\ny\n"), Edit(place(text, "b\n"), ""), Edit(place(text, "d|"), "\nz")]
    assert moved(place(text, "c"), edits).line == 4


# Choosing

A = replace("f(a, b)\n", "a", "A")
INSERTED = Edit(place("f(a, b)\n", "a|"), ", x")
CONFLICTS = {
    "the same edit": (A, A, False),
    "the same place": (A, replace("f(a, b)\n", "a", "B"), True),
    "one around the other": (A, replace("f(a, b)\n", "(a, b)", "()"), True),
    "side by side": (A, replace("f(a, b)\n", ", b", ""), False),
    "apart": (A, replace("f(a, b)\n", "b", "B"), False),
    "the same insertion": (INSERTED, INSERTED, False),
    "two insertions at one place": (INSERTED, Edit(INSERTED.place, ", y"), True),
    "an insertion beside a replacement": (INSERTED, A, True),
    "an insertion apart": (INSERTED, Edit(place("f(a, b)\n", "b|"), ", y"), False),
}


@pytest.mark.parametrize(("first", "second", "conflict"), CONFLICTS.values(), ids=CONFLICTS)
def test_fixes_that_get_in_each_others_way_wait(first: Edit, second: Edit, conflict: bool) -> None:
    text = "f(a, b)\n"
    one, other = finding(first, code="DET901"), finding(second, code="DET902")
    found = apply((one, other), lambda path: text)
    assert apply((other, one), lambda path: text) == found
    assert [left.reason for left in found.left] == ([fixer.OVERLAPS] if conflict else [])
    assert len(found.fixed) == (1 if conflict else 2)


def test_the_first_by_place_then_by_code_wins() -> None:
    text = "f(a, b)\n"
    late, early = finding(replace(text, "b", "B"), code="DET901"), finding(replace(text, "a, b", "c"), code="DET902")
    same = finding(replace(text, "a, b", "d"), code="DET900")
    assert applied(text, late, early) == "f(c)\n"
    assert applied(text, late, early, same) == "f(d)\n"


def test_a_fix_that_has_to_wait_is_not_made_in_part() -> None:
    text = "f(a, b)\n"
    first = finding(replace(text, "a", "A"))
    second = finding(replace(text, "a", "B"), replace(text, "b", "B"), code="DET901")
    assert applied(text, first, second) == "f(A, b)\n"


def test_unsafe_fixes_are_asked_for() -> None:
    text = "f(a)\n"
    unsafe = finding(replace(text, "a", "b"), safety=Safety.UNSAFE)
    assert (applied(text, unsafe), reasons(text, unsafe)) == (text, [("DET900", fixer.UNSAFE)])
    assert applied(text, unsafe, unsafe=True) == "f(b)\n"


def test_what_is_only_shown_is_never_applied() -> None:
    text = "f(a)\n"
    shown = finding(replace(text, "a", "b"), safety=Safety.DISPLAY)
    assert reasons(text, shown, unsafe=True) == [("DET900", fixer.BY_HAND)]


def test_a_finding_may_have_no_fix() -> None:
    none = Finding("DET900", Place(PATH, 1, 1, 1, 2), "wrong")
    assert reasons("f(a)\n", none) == [("DET900", fixer.NO_FIX)]


def test_edits_of_one_fix_must_not_overlap() -> None:
    text = "f(a, b)\n"
    assert reasons(text, finding(replace(text, "a", "A"), replace(text, "a, b", "c"))) == [("DET900", fixer.BAD_EDIT)]


def test_a_fix_may_change_several_files() -> None:
    texts = {"a.py": "f(a)\n", "b.py": "g(b)\n"}
    edits = [replace(texts["a.py"], "a", "x"), replace(texts["b.py"], "b", "y", path="b.py")]
    assert apply([finding(*edits)], texts.__getitem__).texts == {"a.py": "f(x)\n", "b.py": "g(y)\n"}


def test_a_file_that_cannot_be_read_costs_its_own_fixes() -> None:
    text = "f(a)\n"

    def read(path: str) -> str:
        if path == "b.py":
            raise UnreadableError("no such file")
        return text

    good, bad = finding(replace(text, "a", "x")), finding(replace(text, "a", "x", path="b.py"))
    found = apply([good, bad], read)
    assert (found.texts, [left.reason for left in found.left]) == ({PATH: "f(x)\n"}, ["no such file"])


# What no longer parses


BROKEN = {"no Python": "(", "a keyword twice": "1, k=1, k=2", "an argument behind keywords": "k=1, 2"}


@pytest.mark.parametrize("new", BROKEN.values(), ids=BROKEN)
def test_a_fix_that_breaks_a_file_is_left_out(new: str) -> None:
    text = "f(a)\nf(b)\nf(c)\n"
    bad = finding(replace(text, "b", new), code="DET901")
    good = [finding(replace(text, "a", "A")), finding(replace(text, "c", "C"))]
    assert applied(text, *good, bad) == "f(A)\nf(b)\nf(C)\n"
    assert reasons(text, *good, bad) == [("DET901", fixer.NO_PARSE)]


def test_what_waited_for_a_broken_fix_is_made() -> None:
    text = "f(a)\n"
    bad, good = finding(replace(text, "a", "(")), finding(replace(text, "a", "A"), code="DET901")
    assert (applied(text, bad, good), reasons(text, bad, good)) == ("f(A)\n", [("DET900", fixer.NO_PARSE)])


def test_of_fixes_that_break_a_file_together_the_first_is_kept() -> None:
    text = "f(a, b)\n"
    first = finding(replace(text, "a", "k=1"))
    second = finding(replace(text, "b", "k=1"), code="DET901")
    assert (applied(text, first), applied(text, first, second)) == (text, "f(a, k=1)\n")
    assert reasons(text, first, second) == [("DET900", fixer.NO_PARSE)]


def test_a_broken_fix_is_left_out_of_all_its_files() -> None:
    texts = {"a.py": "f(a)\n", "b.py": "g(b)\ng(c)\n"}
    bad = finding(replace(texts["a.py"], "a", "("), replace(texts["b.py"], "b", "y", path="b.py"))
    good = finding(replace(texts["b.py"], "c", "z", path="b.py"))
    assert apply([bad, good], texts.__getitem__).texts == {"b.py": "g(b)\ng(z)\n"}


def test_a_file_that_is_nested_too_deeply_stays_as_it_is() -> None:
    text = f"f(a)\nx = {' + '.join(['1'] * 1200)}\n"
    assert reasons(text, needing(replace(text, "a", "y"), "y")) == [("DET900", fixer.NO_PARSE)]


# Imports


def needing(edit: Edit, *names: str, code: str = "DET900") -> Finding:
    return finding(edit, code=code, imports=tuple(Import(PATH, "rt", name) for name in names))


def test_imports_of_several_fixes_are_one_statement() -> None:
    text = '"""D."""\n\nimport torch\n\nf(a)\nf(b)\n'
    fixes = [needing(replace(text, "(b)", "(y)"), "y", "x", code="DET901"), needing(replace(text, "(a)", "(x)"), "x")]
    assert applied(text, *fixes) == '"""D."""\n\nimport torch\nfrom rt import x, y\n\nf(x)\nf(y)\n'


def test_imports_are_ahead_of_their_first_use_in_the_new_text() -> None:
    text = "import torch\nf(a)\nimport sys\nf(b)\n"
    first = finding(replace(text, "f(a)", "f(\n1,\n2)"))
    second = needing(replace(text, "(b)", "(y)"), "y")
    assert applied(text, first, second) == "import torch\nfrom rt import y\nf(\n1,\n2)\nimport sys\nf(y)\n"
    third = needing(replace(text, "f(a)", "y()"), "y", code="DET901")
    assert applied(text, second, third) == "import torch\nfrom rt import y\ny()\nimport sys\nf(y)\n"


def test_an_import_that_no_edit_names_is_ahead_of_all_of_them() -> None:
    text = "f(a)\nimport torch\n"
    assert (
        applied(text, needing(replace(text, "a", "b"), "patched")) == "from rt import patched\n\nf(b)\nimport torch\n"
    )


def test_lines_that_go_move_the_place_that_an_import_must_be_ahead_of() -> None:
    text = "f(\n1,\n2)\ng(b)\nimport torch\n"
    first = finding(replace(text, "f(\n1,\n2)", "f()"))
    second = needing(replace(text, "(b)", "(y)"), "y")
    assert applied(text, first, second) == "from rt import y\n\nf()\ng(y)\nimport torch\n"


def test_a_fix_may_change_the_statement_that_its_import_joins() -> None:
    text = "from rt import a\n\nf(a)\n"
    both = finding(
        replace(text, "import a", "import c"), replace(text, "(a)", "(b)"), imports=(Import(PATH, "rt", "b"),)
    )
    assert applied(text, both) == "from rt import b, c\n\nf(b)\n"


def test_a_fix_is_left_out_where_its_name_is_taken() -> None:
    text = "x = 1\nf(a)\n"
    assert reasons(text, needing(replace(text, "a", "x"), "x")) == [("DET900", fixer.NAME_TAKEN)]
    assert applied(text, needing(replace(text, "a", "y"), "y")) == "from rt import y\n\nx = 1\nf(y)\n"


def test_a_fix_is_left_out_where_its_import_has_no_place() -> None:
    text = '"""D."""; f(a)\n'
    assert reasons(text, needing(replace(text, "a", "y"), "y")) == [("DET900", fixer.NO_PLACE)]


# Rounds


def checker(rule: Callable[[str, str], list[Finding]], files: Mapping[str, str]) -> fixer.Check:
    """A check of files that a rule, on path and text, makes."""

    def check(changed: Mapping[str, str]) -> list[Finding]:
        checker_calls.append(dict(changed))
        return [found for path, text in {**files, **changed}.items() for found in rule(path, text)]

    checker_calls.clear()
    return check


checker_calls: list[dict[str, str]] = []


def nested(path: str, text: str) -> list[Finding]:
    """Each `bad(...)` is `good(...)`, the outer one whole: the inner ones have to wait."""
    match = re.search(r"bad\((.*)\)", text)
    found = []
    while match is not None:
        start, end = match.span()
        edit = Edit(place(text, text[start:end], path), f"good({match[1]})")
        found.append(finding(edit, imports=(Import(path, "rt", "good"),)))
        match = re.compile(r"bad\((.*?)\)+").search(text, start + 1)
    return found


def reader(files: Mapping[str, str]) -> fixer.Read:
    def read(path: str) -> str:
        if path not in files:
            raise UnreadableError("no such file")
        return files[path]

    return read


def test_fixes_that_had_to_wait_are_made_in_the_next_round() -> None:
    files = {"a.py": "bad(bad(bad(1)))\n", "b.py": "ok = 1\n"}
    found = fix_project(checker(nested, files), reader(files))
    expected = "from rt import good\n\ngood(good(good(1)))\n"
    assert found.changes == (Change("a.py", files["a.py"], expected),)
    assert (len(found.fixed), found.left, found.converged) == (3, (), True)
    assert checker_calls[-1] == {"a.py": expected}, "the last check is of the outcome"


@pytest.mark.parametrize("old", [None, "# older\n"])
def test_what_is_imported_may_bring_a_file_along(old: str | None) -> None:
    files = {"a.py": "bad(1)\n", **({} if old is None else {"rt.py": old})}
    found = fix_project(
        checker(nested, files),
        reader(files),
        companions=lambda needs: {f"{need.module}.py": "# new\n" for need in needs},
    )
    assert found.changes[1:] == (Change("rt.py", old, "# new\n"),)
    assert checker_calls[-1] == {change.path: change.new for change in found.changes}
    quiet = {"a.py": "ok(1)\n"}
    assert (
        fix_project(
            checker(nested, quiet), reader(quiet), companions=lambda needs: {"rt.py": ""} if needs else {}
        ).changes
        == ()
    )


def test_a_second_run_changes_nothing() -> None:
    files = {"a.py": "bad(bad(1))\n"}
    fixed = {c.path: c.new for c in fix_project(checker(nested, files), files.__getitem__).changes}
    again = fix_project(checker(nested, fixed), fixed.__getitem__)
    assert (again.changes, again.fixed, len(checker_calls)) == ((), (), 1)


def test_fixes_that_never_come_to_an_end_are_told() -> None:
    def endless(path: str, text: str) -> list[Finding]:
        return [finding(Edit(place(text, "|f"), "x;"))]

    files = {PATH: "f(a)\n"}
    found = fix_project(checker(endless, files), files.__getitem__)
    assert not found.converged
    assert [left.reason for left in found.left] == [fixer.TOO_MANY]
    assert len(found.fixed) == fixer.ROUNDS
    assert checker_calls[-1] == {PATH: found.changes[0].new}


def test_a_change_that_is_taken_back_is_none() -> None:
    def swap(path: str, text: str) -> list[Finding]:
        if len(checker_calls) > 2:
            return []
        return [finding(Edit(Place(path, 1, 1, 1, 2), "g" if text[0] == "f" else "f"))]

    files = {PATH: "f(a)\n"}
    assert fix_project(checker(swap, files), files.__getitem__).changes == ()
    assert checker_calls[-1] == files, "the check is told of the text that came back"


def test_only_unsafe_fixes_change_nothing_unless_asked_for() -> None:
    files = {PATH: "f(a)\n"}

    def rule(path: str, text: str) -> list[Finding]:
        return [finding(replace(text, "a", "b"), safety=Safety.UNSAFE)] if "a" in text else []

    found = fix_project(checker(rule, files), files.__getitem__)
    assert (found.changes, [left.reason for left in found.left]) == ((), [fixer.UNSAFE])
    assert fix_project(checker(rule, files), files.__getitem__, Settings(unsafe=True)).changes[0].new == "f(b)\n"
