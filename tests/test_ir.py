"""The intermediate representation: names resolved to scopes, nodes numbered within functions, no positions."""

from __future__ import annotations

from textwrap import dedent

import msgspec
import pytest

from detlint.ir import nodes as ir
from detlint.ir.lower_files import lower
from detlint.ir.places import Places

TEXT = """
import os, random
from helper import make as built, other

LIMIT: int = 3

class Data(base.Base, metaclass=Meta):
    kind = "data"

    def __init__(self, root, *, names=()):
        self.files = [os.path.join(root, f) for f in os.listdir(root) if f]
        self.names, self.rest = names
        del root

    @property
    def size(self):
        return len(self.files)

    @size.setter
    def size(self, value):
        self.kept = value

def outer(n):
    count = n
    def inner(x):
        nonlocal count
        count += x
        return lambda y: y + count
    try:
        with open(n) as file, lock:
            yield file
    except ValueError as error:
        raise error
    finally:
        print(f"{n}", LIMIT)
    while n:
        n -= 1
        if n: continue
        break
    match n:
        case 1 | 2: pass
        case _: return None

if __name__ == "__main__":
    outer(Data("x")[1:2])
"""


def lowered(text: str) -> tuple[ir.File, Places]:
    return lower(dedent(text), "train.py")


def test_a_file_comes_back_from_its_bytes_as_it_was() -> None:
    file, _ = lowered(TEXT)
    packed = msgspec.msgpack.encode(file)
    assert msgspec.msgpack.decode(packed, type=ir.File) == file


def test_moved_lines_change_nothing() -> None:
    file, places = lowered(TEXT)
    other, moved = lowered("# a comment\n\n\n" + TEXT.replace("\ndef outer", "\n\n\n# more\ndef outer"))
    assert other == file
    assert moved.line("Data.__init__", 0) == places.line("Data.__init__", 0) + 3
    assert moved.line("outer", 0) == places.line("outer", 0) + 6


def test_an_edit_in_a_function_renumbers_nothing_in_others() -> None:
    file, _ = lowered(TEXT)
    other, _ = lowered(
        TEXT.replace("count = n\n", "count = n + len(n)\n").replace("return len(self.files)", "return 1")
    )
    changed = {name for name in file.functions if file.functions[name] != other.functions[name]}
    assert changed == {"outer", "Data.size"}


def test_functions_are_named_by_what_they_stand_in() -> None:
    file, _ = lowered(TEXT)
    assert set(file.functions) == {
        "", "<main>", "Data.__init__", "Data.size", "Data.size#2", "outer", "outer.inner", "outer.inner.<lambda>",
    }  # fmt: skip
    assert file.functions["Data.size#2"].klass == "Data" and file.functions["outer.inner"].owner == "outer"
    assert file.functions["outer"].yields and file.functions["outer"].caught == ("error",)
    assert file.functions["outer"].shared == ("count",)


def test_a_class_tells_what_its_body_binds_and_what_its_methods_store() -> None:
    file, _ = lowered(TEXT)
    klass = file.classes["Data"]
    assert klass.binds == ("__init__", "kind", "size")
    assert klass.stores == ("files", "kept", "names", "rest")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\ndef f():\n    return x", ir.Global("x")),
        ("def f(x):\n    return x", ir.Local("x")),
        ("def f():\n    return len", ir.Global("len")),
        ("def f():\n    global x\n    x = 1\n    return x", ir.Global("x")),
        ("def f():\n    return [x for x in y][x]", ir.Global("x")),
        ("def f():\n    return None", ir.Constant("None")),
        ("def f():\n    return -1.0", ir.Constant("float", "-1.0")),
        ("def f():\n    return b'\\xff'", ir.Constant("bytes", "\xff")),
    ],
)
def test_a_name_is_resolved_to_its_scope(text: str, found: ir.Expression) -> None:
    file, _ = lowered(text)
    leave = file.functions["f"].body[-1]
    assert isinstance(leave, ir.Leave)
    value = leave.value
    assert (value.key if isinstance(value, ir.Subscript) else value) == found


def test_a_variable_of_a_function_around_is_captured() -> None:
    file, _ = lowered("def f(x):\n    def g():\n        return lambda: x\n    return g")
    leave = file.functions["f.g.<lambda>"].body[0]
    assert isinstance(leave, ir.Leave) and leave.value == ir.Captured("x", "f")
    assert file.functions["f"].shared == ("x",)


def test_a_place_is_that_of_the_text() -> None:
    text = "def f(x):\n    y = 1\n    return g(x)[\n        h(x)]\n"
    file, places = lowered(text)
    leave = file.functions["f"].body[-1]
    assert isinstance(leave, ir.Leave) and isinstance(leave.value, ir.Subscript)
    assert isinstance(leave.value.key, ir.Call)
    assert places.line("f", leave.value.key.node) == 4
    assert places.segment("f", leave.value.key.node) == "h(x)"
