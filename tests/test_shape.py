"""The shape of the project: who imports whom, what is never imported, what files and pages look like."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import grimp
import pytest

from detlint import catalogue, rulebook
from detlint.catalogue import Rule

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "detlint").rglob("*.py"))
RULES = catalogue.load().rules
PAGES = sorted(catalogue.folder().glob("DET*.md"))
RANKS = (
    {"forking", "generators", "releases", "runtime", "support"},
    {"places"},
    {"questions"},
    {"finding", "rulebook", "tree"},
    {"programs", "reading", "registered", "rows", "verify"},
    {"catalogue"},
    {"registering"},
    {"config", "semantics", "sources"},
    {"documents"},
    {"bisect", "editing"},
    {"analysis", "applying"},
    {"orders"},
    {"facts", "triage"},
    {"analyse", "link"},
    {"repairs", "report"},
    {"listing", "project", "verifying"},
    {"cache", "checks"},
    {"gathering"},
    {"settling"},
    {"review"},
    {"standing"},
    {"engine", "fixing", "workspace"},
    {"bisecting", "output"},
    {"repeat"},
    {"plugins"},
    {"commands"},
    {"cli"},
    {"__main__"},
)
RUN = {  # the parts that run code, and what each may use of the others
    "runtime": set[str](),
    "forking": set(),
    "verify": {"forking", "finding", "catalogue", "runtime"},
    "bisect": {"forking", "verify", "finding", "catalogue", "runtime", "sources", "support"},
}
LONGEST = 400
MOST_FILES = 26  # __init__.py among them
BY_RULE = {"detlint/checks"}


def rank(name: str) -> int:
    """The place of a module of the package, or of a package in it, in the order in which they may import each other."""
    return next(i for i, names in enumerate(RANKS) if name in names)


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """What each module of the package imports, anywhere in it: modules of the package, and packages beside it."""
    graph = grimp.build_graph("detlint", include_external_packages=True, cache_dir=None)
    inner = [module for module in graph.modules if module.partition(".")[0] == "detlint"]
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in inner}


def part_of(module: str) -> str:
    """The part of the package that a module belongs to: itself, or the folder it is in."""
    return [*module.split("."), "__init__"][1]


def folder_of(module: str) -> str:
    """The folder that a module is in; the module itself where it stands beside other folders."""
    folder = module.rpartition(".")[0]
    beside = any((ROOT / folder.replace(".", "/")).glob("*/*.py"))
    return module if beside or not folder else folder


def used(module: str) -> set[str]:
    """The other parts of the package that a module imports."""
    inner = {part_of(name) for name in imports()[module] if name.partition(".")[0] == "detlint"}
    return inner - {part_of(module), "__init__"}  # the package itself has the version, and no more


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


# Imports


def test_a_part_imports_only_what_ranks_below_it() -> None:
    found = {(part_of(module), name) for module in imports() for name in used(module)}
    assert not {(own, name) for own, name in found if own == "__init__" or rank(name) >= rank(own)}


def test_no_module_imports_what_it_analyses() -> None:
    analysed = {"torch", "numpy", "lightning", "transformers", "triton"}
    static = {module: names for module, names in imports().items() if part_of(module) not in RUN}
    assert not {module: names & analysed for module, names in static.items() if names & analysed}


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("detlint", exclude_type_checking_imports=True, cache_dir=None)
    order = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    order.prepare()  # raises CycleError, which shows the way


def test_no_folder_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("detlint", exclude_type_checking_imports=True, cache_dir=None)
    before: dict[str, set[str]] = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            before.setdefault(folder_of(module), set()).add(folder_of(imported))
    for folder, others in before.items():
        others.discard(folder)
    TopologicalSorter(before).prepare()


@pytest.mark.parametrize("part", RUN)
def test_what_runs_code_uses_little_of_the_rest(part: str) -> None:
    found = {name for module in imports() if part_of(module) == part for name in used(module)}
    assert found <= RUN[part]


def test_the_whole_catalogue_can_be_verified_without_libcst_and_rich() -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(("libcst", "rich")))
sys.argv = ["detlint", "verify", "--op", "no such operation"]
from detlint import __main__
try:
    __main__.main()
except SystemExit as end:
    print(end.code, "torch" in sys.modules, "numpy" in sys.modules)
"""
    assert run(code).split() == ["2", "False", "False"]


def test_a_check_neither_imports_torch_nor_runs_the_code(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    file = tmp_path / "train.py"
    file.write_text(f"import torch\nopen({str(marker)!r}, 'w').close()\ntorch.backends.cudnn.benchmark = True\n")
    code = """
import sys
from pathlib import Path
from detlint import catalogue, engine
from detlint.config import Config
rules = catalogue.load()
report = engine.check_paths([Path(sys.argv[1])], Config(select=("ALL",)), rules.newest_release(), jobs=1)
print(*(judged.rule.code for judged in report.findings))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
    codes, modules = run(code, str(file)).splitlines()
    assert "DET501" in codes
    assert {"torch", "numpy", "train"}.isdisjoint(modules.split())
    assert not marker.exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 puts the working folder on the path of processes")
def test_a_check_by_many_processes_imports_nothing_from_the_working_folder(tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "detlint"
    if not command.exists():
        pytest.skip("detlint is not installed as a command here")
    (tmp_path / "enum.py").write_text("open('marker', 'w').close()\nraise SystemExit\n")
    for number in range(60):
        (tmp_path / f"train{number}.py").write_text("import torch\ntorch.backends.cudnn.benchmark = True\n")
    done = subprocess.run([command, "--jobs", "2", "--statistics"], cwd=tmp_path, capture_output=True, text=True)
    assert "60  DET501" in done.stdout, done.stderr
    assert not (tmp_path / "marker").exists()


# Files


def test_a_file_can_be_read_at_one_sitting() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert not {path: count for path, count in lines.items() if count > LONGEST}


def test_a_folder_can_be_seen_at_a_glance() -> None:
    """Folders with a file for each rule or format may have more."""
    files = Counter(path.parent.relative_to(ROOT).as_posix() for path in SOURCES)
    assert {folder for folder, count in files.items() if count > MOST_FILES} <= BY_RULE


def test_every_check_is_named_by_a_page_and_is_one_function() -> None:
    named = {rule.check for rule in RULES.values() if rule.check}
    files = {path.stem for path in (ROOT / "detlint" / "checks").glob("*.py")} - {"__init__"}
    assert files == named
    for name in files:
        module = import_module(f"detlint.checks.{name}")
        defined = {k for k, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__}
        assert {k for k in defined if not k.startswith("_")} == {"check"}, name


# Names

MOST = 2  # names of APIs that a collection in code may have; more of them are a table
LIBRARIES = {*sys.stdlib_module_names, "builtins", *(name.partition(".")[0] for name in catalogue.load().known_names)}
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def texts(node: ast.AST) -> list[str]:
    """The strings that stand in a set, tuple or list, or are made of it by putting the same before each, or as words."""
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        return [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if isinstance(node, (ast.SetComp, ast.ListComp, ast.GeneratorExp)) and isinstance(node.elt, ast.JoinedStr):
        first = node.elt.values[0]
        before = str(first.value) if isinstance(first, ast.Constant) else ""
        return [before + text for text in texts(node.generators[0].iter)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        words = node.func.value
        return words.value.split() if isinstance(words, ast.Constant) and isinstance(words.value, str) else []
    return []


@cache
def collections() -> list[tuple[str, list[str]]]:
    """The collections of more than a few names that stand in the static half, each with its place."""
    found = []
    for path in SOURCES:
        if path.relative_to(ROOT / "detlint").parts[0] not in RUN:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = texts(node)
                if len(names) > MOST and all(map(NAME.fullmatch, names)):
                    found.append((f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", names))
    return found


@pytest.mark.slow
def test_names_of_apis_stand_in_tables() -> None:
    """A dict may have such names as its keys: it says what this code does for each of them."""
    named = {place: [name for name in names if name.partition(".")[0] in LIBRARIES] for place, names in collections()}
    qualified = {place: [name for name in names if "." in name] for place, names in named.items()}
    assert not {place: names for place, names in qualified.items() if len(names) > MOST}, "put these into rules/facts"


@pytest.mark.slow
def test_no_collection_of_names_stands_in_two_places() -> None:
    places: dict[frozenset[str], list[str]] = {}
    for place, names in collections():
        places.setdefault(frozenset(names), []).append(place)
    assert not [(sorted(names), where) for names, where in places.items() if len(where) > 1]


# Pages


def test_a_page_is_called_by_its_code_and_name() -> None:
    for path in PAGES:
        rule = catalogue.read_page(path)
        assert path.stem == f"{rule.code}-{rule.name}"
        assert re.fullmatch(r"DET[0-7]\d\d", rule.code), path
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name), path
        assert not rule.name.startswith(("avoid", "use-", "no-", "missing")), f"{path}: the name says what is bad"


def test_codes_and_names_are_unique() -> None:
    assert len(PAGES) == len(RULES)
    assert max(Counter(rule.name for rule in RULES.values()).values()) == 1


def test_what_a_page_says_has_one_style() -> None:
    wrong = {rule.code: what for rule in RULES.values() if (what := list(blemishes(rule)))}
    assert RULES and wrong == {}


def blemishes(rule: Rule) -> Iterator[str]:
    """What is not in the style of the pages."""
    for text in (rule.summary, rule.message, rule.why, rule.help):
        if not text or text != text.strip() or text.endswith(".") or "\n" in text:
            yield f"{text!r} is empty, of several lines, or ends in a space or a full stop"
    for text in (rule.message, rule.why, rule.help):
        if next(iter(text.split()), "").istitle() and text.split()[0] not in PROPER:
            yield f"{text!r} begins with a capital letter"
    if not rule.breaks and not rule.code.startswith("DET0"):
        yield "breaks no promise"
    if not set(rule.breaks) <= set(catalogue.PROMISES):
        yield "breaks what is no promise"
    if rule.lower.rank < rule.severity.rank:
        yield "is graver where it is lower"


PROPER = {"Python", "Triton", "Lightning", "Inductor", "NumPy"}


def test_links_between_pages_lead_somewhere() -> None:
    links = {(rule.code, target) for rule in RULES.values() for target in re.findall(r"\]\((DET[^)#]+)", rule.prose)}
    assert links and not {link for link in links if not (catalogue.folder() / link[1]).is_file()}


def test_rows_have_an_id_and_a_source() -> None:
    for file, tables in catalogue.load().tables.items():
        for table, rows in tables.items():
            ids = Counter(row.id for row in rows)
            assert max(ids.values(), default=1) == 1, f"{file}.{table}: {ids.most_common(1)}"
            assert all(row.list("sources") for row in rows), f"{file}.{table}"


def test_rows_name_rules_that_exist() -> None:
    for file, tables in catalogue.load().tables.items():
        for table, rows in tables.items():
            for row in rows:
                for code in (*row.list("rule"), *row.list("late")):
                    assert code in RULES, f"{file}.{table}: {row.id}"


def test_nothing_points_outside_the_project() -> None:
    pattern = re.compile(r"/(tmp|root|home)/")
    texts = [*SOURCES, *PAGES, *rulebook.facts(), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    for path in texts:
        match = pattern.search(path.read_text(encoding="utf-8"))
        assert match is None, f"{path}: {match}"
