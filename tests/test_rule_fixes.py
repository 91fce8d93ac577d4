"""What the fixes of rules that look at one file do with code that is not as simple as on their pages."""

from __future__ import annotations

import textwrap

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.applying import fixer
from detlint.applying.fixer import Settings
from detlint.config import Config
from detlint.finding import Finding, Safety

from .support import report


def fixed(text: str, *select: str, torch: str = "", unsafe: bool = True) -> str:
    """A text after the fixes of some rules."""
    path = "example.py"
    release = catalogue.load().newest_release(torch)

    def check(texts: object) -> list[Finding]:
        assert isinstance(texts, dict)
        source = Source(path, "example", texts.get(path, text))
        return [judged.finding for judged in engine.check_sources([source], Config(select=select), release).findings]

    outcome = fixer.fix_project(check, {path: text}.__getitem__, Settings(unsafe))
    assert outcome.converged
    return next((change.new for change in outcome.changes if change.path == path), text)


def changes(before: str, after: str) -> list[str]:
    """The lines of a text that another one does not have."""
    old = before.splitlines()
    return [line.strip() for line in after.splitlines() if line not in old]


HEAD = """\
import argparse, os, random, time, uuid
from datetime import datetime
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
"""


def lines(body: str, *select: str, unsafe: bool = True) -> list[str]:
    text = HEAD + textwrap.dedent(body)
    return [line for line in changes(text, fixed(text, *select, unsafe=unsafe)) if "import" not in line]


GENERATORS = [
    ("two of a kind get different seeds", "a = np.random.default_rng()\nb = np.random.default_rng()",
     ["a = np.random.default_rng(0)", "b = np.random.default_rng(1)"]),
    ("a default runs once, outside of its function",
     "def f(seed: int = 3, rng=np.random.default_rng()):\n    return rng", ["def f(seed: int = 3, rng=np.random.default_rng(0)):"]),
    ("generators of a comprehension stay apart", "rngs = [np.random.default_rng() for _ in range(4)]", []),
    ("a class that is made in a loop", "class A:\n    def __init__(self):\n        self.rng = random.Random()\n\n\n"
     "both = [A() for _ in range(2)]", []),
    ("one that is kept is no worker's",
     "def make():\n    rng = np.random.default_rng()\n    return rng\n", []),
    ("a function that main calls in a loop", "def draw():\n    rng = np.random.default_rng()\n    return rng.normal()\n\n\n"
     "for _ in range(3):\n    draw()", ["rng = worker_rng()"]),
    ("a parameter that may be None is no seed", "def main(seed=None):\n    return np.random.default_rng().normal()",
     ["return np.random.default_rng(0).normal()"]),
    ("a seed of the file", "SEED = 7\n\n\ndef main():\n    return random.Random()", ["return random.Random(SEED)"]),
    ("an option that is surely an integer",
     "p = argparse.ArgumentParser()\np.add_argument('--rng-seed', type=int, default=1)\nargs = p.parse_args()\n"
     "print(args.rng_seed)\nrng = random.Random()", ["rng = random.Random(args.rng_seed)"]),
    ("an option of one dash",
     "p = argparse.ArgumentParser()\np.add_argument('-s', '-seed', type=int, default=1)\n"
     "p.add_argument('-seed', type=int, default=1)\nargs = p.parse_args()\nrng = random.Random()",
     ["rng = random.Random(args.seed)"]),
    ("an option without a default may be None",
     "p = argparse.ArgumentParser()\np.add_argument('--seed', type=int)\nargs = p.parse_args()\n"
     "print(args.seed)\nrng = random.Random()", ["rng = random.Random(0)"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [g[1:] for g in GENERATORS], ids=[g[0] for g in GENERATORS])
def test_a_generator_gets_a_seed_where_it_is_made_once(body: str, wanted: list[str]) -> None:
    assert lines(body, "DET104") == wanted


@pytest.mark.parametrize(
    ("seed", "wanted"),
    [("args.seed + rank", "args.seed + rank"), ("7 * rank", "0"), ("hash(args.seed) + rank", "0"), ("seed", "seed")],
)
def test_a_loader_of_one_rank_gets_what_that_rank_seeds_with(seed: str, wanted: str) -> None:
    body = f"""
    def run(rank, args):
        torch.manual_seed({seed})
        return DataLoader([], shuffle=True)
    """
    (line,) = (each for each in lines(body, "DET201") if "generator=" in each)
    assert f"generator=torch.Generator().manual_seed({wanted})" in line


SEEDS = [
    ("the rank stays", "rank = int(os.environ['RANK'])\nrandom.seed(int(time.time()) + rank)", ["random.seed(0 + rank)"]),
    ("a run's name stays", "now = datetime.now()\nrandom.seed(now.microsecond)\nname = f'run-{now}'", ["random.seed(0)"]),
    ("a run may be named after its seed", "seed = time.time_ns() % 2**32\nrandom.seed(seed)\nname = f'run-{seed}'",
     ["seed = 0"]),
    ("one arm of a choice", "def start(seed=None):\n    random.seed(os.getpid() if seed is None else seed)",
     ["random.seed(0 if seed is None else seed)"]),
    ("an unpacked seed", "seed, name = time.time_ns(), 'x'\nrandom.seed(seed)", []),
    ("a uuid", "torch.manual_seed(uuid.uuid4().int % 2**32)", ["torch.manual_seed(0)"]),
    ("what torch.seed returns is used", "seed = torch.seed()\nprint(seed)", ["seed = torch.manual_seed(0).initial_seed()"]),
    ("a new seed each time", "class M(torch.nn.Module):\n    def forward(self, x):\n        self.seed = int(torch.seed() % 9)\n"
     "        torch.manual_seed(self.seed)\n        return x",
     ["self.seed = int(int(torch.randint(2**63 - 1, ())) % 9)"]),
    ("what has no use for a new seed", "class M(torch.nn.Module):\n    def forward(self, x):\n        torch.seed()", []),
    ("a loop that counts", "for i in range(3):\n    np.random.seed()\n    random.seed(int(time.time()))",
     ["np.random.seed(i)", "random.seed(i)"]),
    ("a loop that counts items", "for i, x in enumerate('ab'):\n    g = torch.Generator()\n    g.seed()", ["g.manual_seed(i)"]),
    ("a loop that adds its number", "for i in range(3):\n    random.seed(int(time.time()) + i)", ["random.seed(0 + i)"]),
    ("a loop in a loop", "for i in range(3):\n    for j in range(3):\n        np.random.seed()", []),
    ("a loop that counts anew", "for i in range(3):\n    i = 3\n    np.random.seed()", []),
    ("a loop over items", "for i in 'ab':\n    np.random.seed()", []),
    ("a seed from ahead of the loop", "seed = time.time_ns() % 9\nfor i in range(3):\n    np.random.seed(seed)", []),
    ("a seed that the rank is added to", "rank = int(os.environ['RANK'])\nseed = os.getpid()\nif rank:\n    seed += rank\n"
     "random.seed(seed)", ["seed = 0"]),
    ("a seed of another file", "from other import fresh\n\ndef start(seed=None):\n    if seed is None:\n"
     "        seed = fresh()\n    random.seed(seed)", []),
    ("a generator in parentheses", "g = torch.Generator()\n(\n    g\n).seed()", [").manual_seed(0)"]),
    ("a worker", "def init(worker_id):\n    np.random.seed(int(time.time()) + worker_id)", []),
    ("a function that is handed to a loader",
     "def init(i):\n    np.random.seed()\n\n\nloader = DataLoader([], worker_init_fn=init)", []),
    ("an item", "class D(Dataset):\n    def __getitem__(self, i):\n        random.seed(time.time())", []),
    ("a hash of several things", "def f(name: str):\n    random.seed(hash(('a', 1)))\n    random.seed(hash(('a', name)))",
     ["random.seed(0)", "random.seed(zlib.crc32(repr(('a', name)).encode()))"]),
    ("a hash of a text and nothing", "def f(name: str):\n    random.seed(hash((name, None)))",
     ["random.seed(zlib.crc32(repr((name, None)).encode()))"]),
    ("a hash of what is not known", "class K:\n    def __str__(self): return 'k'\n\n\nrandom.seed(hash(('a', K())))", []),
    ("a seed that is an attribute", "class T:\n    def __init__(self):\n        self.seed = int(time.time())\n"
     "        random.seed(self.seed)", ["self.seed = 0"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [g[1:] for g in SEEDS], ids=[g[0] for g in SEEDS])
def test_the_entropy_of_a_seed_becomes_zero(body: str, wanted: list[str]) -> None:
    assert lines(body, "DET105") == wanted


@pytest.mark.parametrize(
    ("made", "after", "safety"),
    [
        ("random.randint(1, 9)", "0", "safe"),
        ("fresh()", "0", "unsafe"),
        ("fresh(3)", "", ""),
        ("fresh(); rank = other(); seed += rank", "0", "unsafe"),
    ],
)
def test_a_seed_is_safe_where_all_programs_draw_it_unseeded(made: str, after: str, safety: str) -> None:
    main = (
        f"import random\nfrom seeds import fresh, other\n\nseed = {made}\nrandom.seed(seed)\nprint(random.random())\n"
    )
    files = {
        "seeds.py": "import os\n\n\ndef fresh(bits=8):\n    return os.getpid()\n\n\ndef other():\n    return 1\n",
        "main.py": main,
    }
    fixes = [each.finding.fix for each in report(files, ("DET105",)).findings]
    assert [(f.edits[0].text, f.safety.value) if f else ("", "") for f in fixes] == [(after, safety)]


def test_a_seed_that_another_program_draws_seeded_is_unsafe() -> None:
    start = "import random\nimport torch\n\n\ndef main():\n    torch.manual_seed(random.randint(1, 9))\n"
    other = "import random\nfrom start import main\n\n{}\nmain()\n"
    for line, safety in (("", Safety.SAFE), ("random.seed(0)", Safety.UNSAFE)):
        files = {"start.py": start, "one.py": other.format(""), "two.py": other.format(line)}
        (judged,) = report(files, ("DET105",)).findings
        assert judged.finding.fix is not None
        assert judged.finding.fix.safety is safety


@pytest.mark.parametrize("rank", ["rank", "0"])
def test_one_seed_for_ranks_that_seed_apart_is_an_unsafe_fix(rank: str) -> None:
    body = f"def start(seed, rank):\n    random.seed(None if seed < 0 else seed + {rank})\nstart(1, 2)"
    wanted = [f"random.seed(0 if seed < 0 else seed + {rank})"]
    assert lines(body, "DET105") == wanted
    assert lines(body, "DET105", unsafe=False) == (wanted if rank == "0" else [])


@pytest.mark.parametrize(
    ("docs", "start", "safe"),
    [
        ("Seed all generators.", "start(3)", True),
        ("Seed all generators; with a strong random seed where it is None.", "start(3)", False),
        ("Seed all generators. seed: if None, will use a random one", "start(3)", False),
        ("Seed all generators.", "start(None if wanted < 0 else wanted + dist.get_rank())", False),
    ],
)
def test_entropy_that_a_caller_asks_for_by_none_is_not_replaced_safely(docs: str, start: str, safe: bool) -> None:
    body = f'''
    import torch.distributed as dist


    def start(seed=None):
        """{docs}"""
        if seed is None:
            seed = os.getpid() + int.from_bytes(os.urandom(2), "big")
        torch.manual_seed(seed)


    {start}
    '''
    assert bool(lines(body, "DET105", unsafe=False)) is safe
    assert lines(body, "DET105")


def test_an_import_goes_with_its_last_use_only() -> None:
    text = "import random\nimport time\n\nrandom.seed(time.time())\nprint(time.ctime())\n"
    assert "import time\n" in fixed(text, "DET105")
    assert fixed(text.replace("print(time.ctime())\n", ""), "DET105") == "import random\n\nrandom.seed(0)\n"


def test_an_import_of_several_names_loses_one() -> None:
    text = "import random, time\nfrom datetime import datetime as now, timedelta\nrandom.seed(now.now().second)\nrandom.seed(time.time())\n"
    assert fixed(text, "DET105").startswith("import random\nfrom datetime import timedelta\n")


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (
            "DataLoader(d, **o, shuffle=True)",
            "DataLoader(d, **o, shuffle=True, generator=torch.Generator().manual_seed(0))",
        ),
        (
            "DataLoader(d, shuffle=True, **o)",
            "DataLoader(d, shuffle=True, generator=torch.Generator().manual_seed(0), **o)",
        ),
        (
            "DataLoader(d, shuffle=True, generator=None)",
            "DataLoader(d, shuffle=True, generator=torch.Generator().manual_seed(0))",
        ),
        ("DataLoader(d, shuffle=True,)", "DataLoader(d, shuffle=True, generator=torch.Generator().manual_seed(0),)"),
    ],
)
def test_a_generator_is_passed_where_it_fits(call: str, wanted: str) -> None:
    assert lines(f"o = {{}}\nx = {call}", "DET201") == [f"x = {wanted}"]


def test_a_program_that_seeds_keeps_its_order_unless_it_is_asked_for() -> None:
    body = "torch.manual_seed(0)\nx = DataLoader(d, shuffle=True)\nfor batch in x: pass"
    assert lines(body, "DET201", unsafe=False) == []
    assert lines(body, "DET201") == ["x = DataLoader(d, shuffle=True, generator=torch.Generator().manual_seed(0))"]


def test_a_program_that_sets_another_default_device_is_left_alone() -> None:
    assert lines("torch.set_default_device('cuda')\nloader = DataLoader(data, shuffle=True)", "DET201") == []


def test_a_worker_init_fn_that_does_more_than_seed_stays() -> None:
    body = """
    def init(worker_id):
        np.random.seed(3)
        torch.set_num_threads(1)

    loader = DataLoader(data, num_workers=2, worker_init_fn=init)
    """
    assert lines(body, "DET203") == []


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("torch.empty(3, pin_memory=True)", "torch.zeros(3, pin_memory=True)"),
        ("torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)", None),
        (
            "torch.empty_like(x, memory_format=torch.contiguous_format)",
            "torch.zeros_like(x, memory_format=torch.contiguous_format)",
        ),
        ("torch.empty_strided((2, 2), (1, 2))", None),
        ("torch.cuda.HalfTensor(3)", 'torch.zeros(3, dtype=torch.float16, device="cuda")'),
        ("torch.Tensor(torch.ones(3).size())", "torch.zeros(torch.ones(3).size())"),
        ("torch.Tensor(x.size())", None),
        ("np.ndarray((2, 2), np.float32)", "np.zeros((2, 2), np.float32)"),
        ("np.ndarray((2, 2), strides=(8, 16))", None),
        ("np.empty_like(prototype=x)", None),
        ("(x + x).new_empty(3)", "(x + x).new_zeros(3)"),
        ("cuda.FloatTensor(3)", None),
    ],
)
def test_memory_is_filled_by_a_function_that_takes_the_same_arguments(call: str, wanted: str | None) -> None:
    found = lines(f"from torch import cuda\ndef read(x):\n    return {call}.sum()", "DET401", "DET402")
    assert found == ([f"return {wanted}.sum()"] if wanted else [])


def test_a_switch_that_is_set_with_something_else_stays() -> None:
    assert lines("fast = torch.backends.cudnn.benchmark = True", "DET501") == []


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("torch.use_deterministic_algorithms(True)", "enable_determinism()"),
        ("torch.use_deterministic_algorithms(True, warn_only=args.warn)", "enable_determinism(warn_only=args.warn)"),
        ("torch.use_deterministic_algorithms(*args)", None),
    ],
)
def test_deterministic_mode_is_switched_on_with_what_it_needs(call: str, wanted: str | None) -> None:
    text = f"import torch\n\n{call}\nprint(torch.ones(3))\n"
    assert [line for line in changes(text, fixed(text, "DET504", torch="<2.10")) if "import" not in line] == (
        [wanted] if wanted else []
    )
