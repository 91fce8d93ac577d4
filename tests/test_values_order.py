"""The order of a listing, followed to what draws from it: through helpers, objects, globals, closures and limits.

Each program that joins get wrong stands beside its twin that has the cause: one is silent, the other is found.
"""

from __future__ import annotations

import pytest

from tests.solved import solved

HEAD = "import os, random\n"
BOX = """
class Box:
    def __init__(self, items):
        self.items = items
"""
DATA = """
class Data:
    def __init__(self, root):
        self.files = os.listdir(root)
        {then}

    def order(self):
        {order}

    def draw(self):
        return random.choice(self.files)

Data("x").draw()
"""
TOLIST = """
def tolist(x):
    return [i for i in x]

a = tolist(os.listdir("d"))
b = tolist(["x", "y"])
random.choice({drawn})
"""
ASKED = (
    BOX
    + """
def asked(x):
    {test}
    return x

a = asked(Box(os.listdir("d")))
b = asked(Box([1, 2]))
random.choice({drawn}.items)
"""
)
GLOBAL = """
cfg = None

def load():
    global cfg
    cfg = os.listdir("d")

def fix():
    global cfg
    cfg = sorted(cfg)

def main():
    load()
    {then}
    random.choice(cfg)

main()
"""
CLOSURE = """
def main():
    files = os.listdir("d")
    def fix():
        nonlocal files
        files = sorted(files)
    def draw():
        return random.choice(files)
    {then}
    draw()

main()
"""
HELPER = """
def listed(root):
    found = []
    for name in os.listdir(root):
        if name.endswith(".png"):
            found.append(os.path.join(root, name))
    {then}
    return found

def draw(items):
    return random.sample(items, 3)

def main():
    draw(listed("x"))

main()
"""
IN_PLACE = """
def change(items):
    items.{method}

def main():
    files = os.listdir("d")
    change(files)
    random.shuffle(files)

main()
"""
MANY = "".join(f"b{i} = Box({{}})\n" for i in range(10))


@pytest.mark.parametrize(
    ("program", "count"),
    [
        pytest.param(
            'files = os.listdir("d")\nfiles = sorted(files)\nrandom.choice(files)\n', 0, id="top level sorted"
        ),
        pytest.param('files = os.listdir("d")\nfiles.sort()\nrandom.choice(files)\n', 0, id="top level sort"),
        pytest.param('files = os.listdir("d")\nrandom.choice(files)\n', 1, id="top level"),
        pytest.param('files = set(os.listdir("d"))\nrandom.choice(sorted(files))\n', 0, id="set sorted"),
        pytest.param(DATA.format(then="self.files.sort()", order="pass"), 0, id="attribute sort"),
        pytest.param(DATA.format(then="self.order()", order="self.files = sorted(self.files)"), 0, id="other method"),
        pytest.param(DATA.format(then="self.order()", order="print(self.files)"), 1, id="other method looks"),
        pytest.param(TOLIST.format(drawn="b"), 0, id="helper of a list"),
        pytest.param(TOLIST.format(drawn="a"), 1, id="helper of a listing"),
        pytest.param(ASKED.format(test="if x: print(x)", drawn="b"), 0, id="a box that was asked for"),
        pytest.param(ASKED.format(test="if x: print(x)", drawn="a"), 1, id="a box of a listing that was asked for"),
        pytest.param(ASKED.format(test="y = 1 if x else 2", drawn="a"), 1, id="a box of a listing that was looked at"),
        pytest.param(BOX + 'a = Box(os.listdir("d")); b = Box([1, 2])\nrandom.choice(b.items)\n', 0, id="other box"),
        pytest.param(BOX + 'a = Box(os.listdir("d")); b = Box([1, 2])\nrandom.choice(a.items)\n', 1, id="box"),
        pytest.param(
            BOX + 'a = Box(os.listdir("d"))\n' + MANY.format(*["[1]"] * 10) + "random.choice(b3.items)\n", 0, id="many"
        ),
        pytest.param(
            BOX + 'f = os.listdir("d")\n' + MANY.format(*["f"] * 10) + "random.choice(b3.items)\n", 1, id="all many"
        ),
        pytest.param(GLOBAL.format(then="fix()"), 0, id="global sorted elsewhere"),
        pytest.param(GLOBAL.format(then="pass"), 1, id="global sorted by nobody"),
        pytest.param(GLOBAL.replace("sorted(cfg)", "list(cfg)").format(then="fix()"), 1, id="global"),
        pytest.param(CLOSURE.format(then="fix()"), 0, id="closure sorts"),
        pytest.param(CLOSURE.replace("sorted(files)", "list(files)").format(then="fix()"), 1, id="closure"),
        pytest.param(HELPER.format(then="found.sort()"), 0, id="collected and sorted"),
        pytest.param(HELPER.format(then="pass"), 1, id="collected"),
        pytest.param(IN_PLACE.format(method="sort()"), 0, id="parameter sorted"),
        pytest.param(IN_PLACE.format(method='append("x")'), 1, id="parameter appended"),
        pytest.param(
            'files = []\nfiles.append("x")\nif a:\n    files = os.listdir("d")\nrandom.choice(files)\n', 0, id="one arm"
        ),
        pytest.param('files = []\nif a:\n    files = os.listdir("d")\nrandom.choice(files)\n', 1, id="empty before"),
        pytest.param('for f in os.listdir("d"):\n    random.choice([f])\n', 0, id="an item alone"),
        pytest.param('random.choice(len(os.listdir("d")))\n', 0, id="a length"),
    ],
)
def test_an_order_is_found_where_it_surely_reaches_a_draw(program: str, count: int) -> None:
    assert len(solved(HEAD + program).flows()) == count


def test_what_one_arm_gives_a_shared_variable_is_kept_where_the_other_calls() -> None:
    text = """
        import os, random

        def other():
            return 1

        def main(how):
            if how:
                files = os.listdir("d")
            else:
                other()
                files = os.listdir("e")

            def draw():
                return random.choice(files)

            return draw()

        main(unknown)
    """
    assert solved(text).flows() == []  # neither listing is certain
    found = solved(text).solution.solver.heap.joined
    (value,) = {value for (owner, slot), value in found.items() if getattr(slot, "name", "") == "files"}
    assert len(value.taints) == 2


def test_a_function_that_no_program_reaches_is_followed_from_unknown_arguments() -> None:
    text = """
        import os, random

        class Data:
            def load(self, root):
                self.files = os.listdir(root)
                return random.choice(self.files)

        def draw(root, names):
            names.sort()
            random.choice(names)
            return random.choice(os.listdir(root))
    """
    found = solved(text, started=set())
    assert found.flows() == [(6, 7), (12, 12)]
    assert not found.solution.solver.table


def test_what_no_program_reaches_changes_nothing_of_what_programs_do() -> None:
    text = """
        import os, random
        names = sorted(os.listdir("d"))

        def unused():
            global names
            names = os.listdir("d")

        def draw():
            return random.choice(names)

        draw()
    """
    assert solved(text).flows() == []


def test_a_flow_names_the_calls_between_its_source_and_its_use() -> None:
    from detlint.flows.flows import flows

    found = solved(HEAD + HELPER.format(then="pass"))
    (flow,) = flows(found.solution, "order")
    assert [found.line(code)[1] for code in (flow.source, *flow.calls, flow.sink)] == [5, 15, 12]


def test_too_many_sources_are_none() -> None:
    each = "".join(f'    found += os.listdir("{i}")\n' for i in range(20))
    text = f"{HEAD}def listed():\n    found = []\n{each}    return found\n\nrandom.choice(listed())\n"
    assert solved(text).flows() == []
