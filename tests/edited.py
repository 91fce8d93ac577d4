"""Projects of a few files that call each other, made up by hypothesis, and edits of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

LIBRARIES, SCRIPTS, FUNCTIONS = 3, 3, 3
_HEAD = (
    "import os",
    "import random",
    "import sys",
    "import numpy as np",
    "import torch",
    "import torch.multiprocessing as mp",
)
_EACH = tuple(f"lib{number}.f{name}" for number in range(LIBRARIES) for name in range(FUNCTIONS))
_STEPS = (
    "torch.rand(2)", "random.random()", "np.random.rand(3)", "torch.manual_seed(0)", "random.seed(0)",
    "np.random.seed(int(os.environ['SEED']))", "torch.backends.cudnn.benchmark = True",
    "torch.use_deterministic_algorithms(True)", "loss = torch.nn.Linear(2, 2)(x).sum(); loss.backward()",
    "for each in os.listdir('.'): random.shuffle([each])", "y = x.sample_batch(2)", "y = Thing(x).sample_batch(1)",
    "loader = torch.utils.data.DataLoader(x, shuffle=True); [b for b in loader]", "names = {'a', 'b'}; y = list(names)",
    "torch.save({'model': x}, 'a.pt')", "x = torch.load('a.pt')", "STATE.append(x)", "y = LIMIT + 1",
    "if LIMIT > 2: torch.rand(1)", "if x: return list(os.listdir('.'))", "mp.spawn(f0, args=(x,))",
    "later = lambda: torch.rand(3); later()", "x.index_add_(0, x, x)", "y = torch.empty(3) + 1", "sys.exit()",
)  # fmt: skip
CALLS = tuple(f"{name}({given})" for name in _EACH for given in ("x", "1", "", "lib0.f1", "x=lib1.Thing(x)"))
STEPS = st.one_of(st.sampled_from(_STEPS), st.sampled_from(CALLS), st.sampled_from(CALLS))
BODIES = st.lists(STEPS, min_size=1, max_size=4)


@dataclass
class Text:
    """A file: the lines ahead of its functions, these by their names, and what a script does."""

    head: list[str]
    functions: dict[str, list[str]]
    main: list[str] | None

    def __str__(self) -> str:
        parts = [*self.head, ""]
        for name, body in self.functions.items():
            parts += ["", f"def {name}(x=None):", *(f"    {step}" for step in body)]
        parts += ["", "class Thing:", "    def __init__(self, x): self.x = x"]
        parts += [
            "    def sample_batch(self, n):",
            *(f"        {step}" for step in self.functions["f0"] if "x" not in step),
        ]
        parts += ["        return n"]
        if self.main is not None:
            parts += [
                "",
                'if __name__ == "__main__":',
                "    x = sys.argv",
                *(f"    {s}" for s in self.main if "return" not in s),
            ]
        return "\n".join([*parts, ""])


@st.composite
def projects(draw: st.DrawFn) -> dict[str, Text]:
    """Files by path: scripts, and libraries that these and one another import."""
    names = [*(f"lib{n}" for n in range(LIBRARIES)), *(f"main{n}" for n in range(SCRIPTS))]
    return {f"{name}.py": draw(_texts(name)) for name in names}


@st.composite
def _texts(draw: st.DrawFn, name: str) -> Text:
    others = [f"lib{n}" for n in range(LIBRARIES) if f"lib{n}" != name]
    imported = [f"import {each}" for each in others if draw(st.integers(0, 3))]
    head = [*_HEAD, *imported, f"LIMIT = {draw(st.integers(1, 4))}", "STATE = []"]
    functions = {f"f{n}": draw(BODIES) for n in range(FUNCTIONS)}
    return Text(head, functions, draw(BODIES) if name.startswith("main") else None)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str, int, str]:
    """An edit: its kind, the file, where in it, and what comes there."""
    kinds = ("comment", "step", "step", "more", "less", "function", "import", "limit", "top", "main", "break", "delete")
    kind = draw(st.sampled_from(kinds))
    names = [*(f"lib{n}.py" for n in range(LIBRARIES)), *(f"main{n}.py" for n in range(SCRIPTS))]
    return kind, draw(st.sampled_from(names)), draw(st.integers(0, 30)), draw(STEPS)


def edit(text: Text, kind: str, at: int, step: str) -> str:
    """The file as it is after an edit; what it is then is that from now on."""
    body = text.functions[f"f{at % FUNCTIONS}"] if kind != "main" or text.main is None else text.main
    if kind == "comment":
        text.head.insert(at % (len(text.head) + 1), "# a comment" if at % 2 else "")
    elif kind in ("step", "main"):
        body[at % len(body)] = step
    elif kind == "more":
        body.insert(at % (len(body) + 1), step)
    elif kind == "less" and len(body) > 1:
        del body[at % len(body)]
    elif kind == "function":
        text.functions[f"g{at}"] = [step]
    elif kind == "import":
        line = f"import lib{at % LIBRARIES}"
        text.head = [each for each in text.head if each != line] if line in text.head else [line, *text.head]
    elif kind == "limit":
        text.head = [f"LIMIT = {at}" if each.startswith("LIMIT") else each for each in text.head]
    elif kind == "top" and "return" not in step:
        text.head.append(step.replace("x", "STATE"))
    return f"{text}\ndef (:" if kind == "break" else str(text)
