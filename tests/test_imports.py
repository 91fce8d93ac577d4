"""Which file an import loads, over the layouts that projects have."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint.sources.imports import Imports

FLAT = ("train.py", "utils.py", "models.py")
SRC = (
    "src/pkg/__init__.py",
    "src/pkg/a.py",
    "src/pkg/sub/__init__.py",
    "src/pkg/sub/b.py",
    "tests/test_a.py",
    "run.py",
)
PYTHON = ("python/pkg/__init__.py", "python/pkg/a.py", "tests/unit/test_a.py")
LIBRARY = ("timm/__init__.py", "timm/models/__init__.py", "timm/models/vit.py", "train.py", "examples/a/train.py")
EXAMPLES = (
    "examples/a/train.py",
    "examples/a/utils.py",
    "examples/b/train.py",
    "examples/b/utils.py",
    "examples/c/train.py",
    "examples/d/sub/train.py",
)
NAMESPACE = ("pkg/deep/core/ops.py", "pkg/deep/net.py", "pkg/top.py", "main.py")
OWN = ("logs/__init__.py", "logs/tensorboard.py", "logs/wandb.py", "logs/base.py", "alone/tensorboard.py", "alone/x.py")
STANDARD = (
    "pkg/__init__.py",
    "pkg/random.py",
    "pkg/a.py",
    "tool/random.py",
    "tool/x.py",
    "tool/deep/y.py",
    "random.py",
)
KINDS = ("both/__init__.py", "both.py", "mixed.py", "mixed/inner.py", "space/inner.py", "x/space/__init__.py", "x/y.py")
NAMED_ALIKE = ("net/__init__.py", "net/__main__.py", "net/net.py", "net/layers.py")
STRAY = ("ex/a/__init__.py", "ex/a/run.py", "ex/a/lib/net.py", "ex/b/__init__.py", "ex/b/run.py", "ex/b/lib/net.py")
COPIES = ("one/pkg/__init__.py", "one/pkg/a.py", "one/use.py", "two/pkg/__init__.py", "two/pkg/a.py", "two/use.py")
PLUGIN = ("plugins/lib/tool/core.py", "app/run.py", "p/q/x.py", "r/q/x.py", "app/mod.py", "deep/space/more/z.py")


@pytest.mark.parametrize(
    ("files", "importer", "target", "found"),
    [
        (FLAT, "train.py", "utils", "utils.py"),
        (FLAT, "train.py", "torch", None),
        (FLAT, "train.py", "utils.Thing", None),
        (FLAT, "./train.py", "utils", "utils.py"),
        (("./a.py", "./b.py"), "./a.py", "b", "./b.py"),
        (SRC, "tests/test_a.py", "pkg", "src/pkg/__init__.py"),
        (SRC, "tests/test_a.py", "pkg.a", "src/pkg/a.py"),
        (SRC, "run.py", "pkg.sub.b", "src/pkg/sub/b.py"),
        (SRC, "src/pkg/sub/b.py", "pkg.a", "src/pkg/a.py"),
        (SRC, "src/pkg/sub/b.py", "pkg.sub", "src/pkg/sub/__init__.py"),
        (SRC, "src/pkg/a.py", "src.pkg.sub", "src/pkg/sub/__init__.py"),
        (SRC, "src/pkg/__init__.py", "pkg", "src/pkg/__init__.py"),
        (SRC, "src/pkg/a.py", "sub", None),
        (SRC, "src/pkg/a.py", "pkg.missing", None),
        (PYTHON, "tests/unit/test_a.py", "pkg.a", "python/pkg/a.py"),
        (PYTHON, "tests/unit/test_a.py", "pkg", "python/pkg/__init__.py"),
        (("src/__init__.py", "src/models.py", "tests/t.py"), "tests/t.py", "models", None),
        (LIBRARY, "train.py", "timm", "timm/__init__.py"),
        (LIBRARY, "examples/a/train.py", "timm.models.vit", "timm/models/vit.py"),
        (LIBRARY, "timm/models/vit.py", "timm.models", "timm/models/__init__.py"),
        (LIBRARY, "timm/models/vit.py", "models", None),
        (EXAMPLES, "examples/a/train.py", "utils", "examples/a/utils.py"),
        (EXAMPLES, "examples/b/train.py", "utils", "examples/b/utils.py"),
        (EXAMPLES, "examples/c/train.py", "utils", None),
        (EXAMPLES, "examples/d/sub/train.py", "utils", None),
        (EXAMPLES, "examples/c/train.py", "train", None),
        ((*EXAMPLES, "utils.py"), "examples/c/train.py", "utils", "utils.py"),
        ((*EXAMPLES, "examples/utils.py", "utils.py"), "examples/d/sub/train.py", "utils", "examples/utils.py"),
        (NAMESPACE, "main.py", "pkg.deep.core.ops", "pkg/deep/core/ops.py"),
        (NAMESPACE, "pkg/deep/net.py", "pkg.top", "pkg/top.py"),
        (NAMESPACE, "pkg/deep/core/ops.py", "net", "pkg/deep/net.py"),
        (NAMESPACE, "main.py", "pkg.deep", None),
        (OWN, "logs/tensorboard.py", "tensorboard", None),
        (OWN, "logs/tensorboard.py", "tensorboard.backend", None),
        (OWN, "logs/base.py", "wandb", None),
        (OWN, "logs/base.py", "logs.wandb", "logs/wandb.py"),
        (OWN, "alone/tensorboard.py", "tensorboard", None),
        (OWN, "alone/x.py", "tensorboard", "alone/tensorboard.py"),
        (("timm/__init__.py", "examples/timm.py"), "examples/timm.py", "timm", "timm/__init__.py"),
        (STANDARD, "pkg/a.py", "random", None),
        (STANDARD, "pkg/random.py", "random", None),
        (STANDARD, "tool/x.py", "random", "tool/random.py"),
        (STANDARD, "tool/deep/y.py", "random", None),
        (STANDARD, "pkg/a.py", "pkg.random", "pkg/random.py"),
        (("x/logging/handlers.py", "y.py"), "y.py", "logging.handlers", None),
        (("code/__init__.py", "code/a.py", "code/b.py"), "code/a.py", "code.b", "code/b.py"),
        (KINDS, "x/y.py", "both", "both/__init__.py"),
        (KINDS, "x/y.py", "mixed", "mixed.py"),
        (KINDS, "x/y.py", "mixed.inner", None),
        (KINDS, "x/y.py", "space", "x/space/__init__.py"),
        (KINDS, "x/y.py", "space.inner", None),
        (KINDS, "both.py", "space.inner", "space/inner.py"),
        (NAMED_ALIKE, "net/__main__.py", "net.layers", "net/layers.py"),
        (NAMED_ALIKE, "net/__main__.py", "net.net", "net/net.py"),
        (NAMED_ALIKE[1:], "net/__main__.py", "net.layers", "net/layers.py"),
        (STRAY, "ex/a/run.py", "lib.net", "ex/a/lib/net.py"),
        (STRAY, "ex/b/run.py", "lib.net", "ex/b/lib/net.py"),
        (COPIES, "one/use.py", "pkg.a", "one/pkg/a.py"),
        (COPIES, "two/use.py", "pkg", "two/pkg/__init__.py"),
        (COPIES, "two/pkg/a.py", "pkg.a", "two/pkg/a.py"),
        (PLUGIN, "app/run.py", "tool.core", "plugins/lib/tool/core.py"),
        (PLUGIN, "app/run.py", "lib.tool.core", "plugins/lib/tool/core.py"),
        (PLUGIN, "app/run.py", "core", None),
        (PLUGIN, "app/run.py", "q.x", None),
        (PLUGIN, "app/run.py", "mod.tool", None),
        (("a/q/z.py", "b/q/z/x.py", "c/run.py"), "c/run.py", "q.z", "a/q/z.py"),
        (("../__init__.py", "../a.py", "../b.py"), "../a.py", "b", "../b.py"),
        (("app/utils.py", "app/run.py", "other/utils/seed.py"), "app/run.py", "utils.seed", None),
        (("pkg/__init__.py", "pkg/a.py", "x/pkg/b.py"), "pkg/a.py", "pkg.b", None),
        (("a.ipynb", "b.py", "c.pyi"), "a.ipynb", "b", "b.py"),
        (("a.ipynb", "b.py", "c.pyi"), "b.py", "a", None),
        (("a.ipynb", "b.py", "c.pyi"), "b.py", "c", None),
    ],
)  # fmt: skip
def test_an_import_finds_the_file_that_it_loads(
    files: tuple[str, ...], importer: str, target: str, found: str | None
) -> None:
    assert Imports(files).find(target, importer) == found


@pytest.mark.parametrize(
    ("files", "importer", "target", "found"),
    [
        (SRC, "/w/run.py", "pkg.a", "/w/src/pkg/a.py"),
        (LIBRARY, "/w/examples/a/train.py", "timm", "/w/timm/__init__.py"),
        (EXAMPLES, "/w/examples/b/train.py", "utils", "/w/examples/b/utils.py"),
        (("pkg/__init__.py", "pkg/a.py", "pkg/wandb.py"), "/w/pkg/a.py", "pkg.wandb", "/w/pkg/wandb.py"),
        (("pkg/__init__.py", "pkg/a.py", "pkg/wandb.py"), "/w/pkg/a.py", "wandb", None),
        (("torch/data.py", "torch/train.py"), "/w/torch/train.py", "torch.data", None),
        (("torch/data.py", "torch/train.py", "x.py"), "/w/torch/train.py", "torch.data", "/w/torch/data.py"),
        (("a/torch/train.py", "a/torch/net.py"), "/w/a/torch/train.py", "a.torch.net", None),
    ],
)
def test_absolute_paths_are_searched_up_to_the_folder_of_all(
    files: tuple[str, ...], importer: str, target: str, found: str | None
) -> None:
    assert Imports(f"/w/{file}" for file in files).find(target, importer) == found


@pytest.mark.parametrize(
    ("files", "importer", "script", "target", "found"),
    [
        (EXAMPLES, "examples/a/utils.py", "examples/b/train.py", "utils", "examples/b/utils.py"),
        (EXAMPLES, "examples/a/train.py", "examples/a/train.py", "utils", "examples/a/utils.py"),
        (STANDARD, "pkg/a.py", "pkg/a.py", "random", "pkg/random.py"),
        (STANDARD, "pkg/a.py", "tool/x.py", "random", "tool/random.py"),
        (STANDARD, "tool/x.py", "pkg/a.py", "random", "pkg/random.py"),
        (STANDARD, "tool/x.py", "tool/deep/y.py", "random", None),
        (STANDARD, "random.py", "random.py", "random", None),
        (OWN, "logs/base.py", "logs/base.py", "wandb", "logs/wandb.py"),
        (SRC, "src/pkg/a.py", "src/pkg/a.py", "sub.b", "src/pkg/sub/b.py"),
        (("code/__init__.py", "code/a.py", "tools/x.py"), "code/a.py", "tools/x.py", "code.a", "code/a.py"),
        (COPIES, "one/pkg/a.py", "two/use.py", "pkg.a", "two/pkg/a.py"),
        (COPIES, "one/pkg/a.py", "./two/use.py", "pkg.a", "two/pkg/a.py"),
    ],
)
def test_the_folder_of_the_script_comes_first(
    files: tuple[str, ...], importer: str, script: str, target: str, found: str | None
) -> None:
    assert Imports(files).find(target, importer, script) == found


@pytest.mark.parametrize(
    ("files", "importer", "extra", "target", "found"),
    [
        (EXAMPLES, "examples/c/train.py", ("examples/a",), "utils", "examples/a/utils.py"),
        (EXAMPLES, "examples/c/train.py", ("examples/c/../b",), "utils", "examples/b/utils.py"),
        (EXAMPLES, "examples/c/train.py", ("nowhere", "examples/b"), "utils", "examples/b/utils.py"),
        (EXAMPLES, "examples/c/train.py", ("examples/b", "examples/a"), "utils", "examples/b/utils.py"),
        (EXAMPLES, "examples/a/train.py", ("examples/b",), "utils", "examples/b/utils.py"),
        ((*EXAMPLES, "lib/x.py"), "examples/c/train.py", ("../../lib",), "x", "lib/x.py"),
        (("a/b/run.py", "a/x.py", "c/x.py"), "a/b/run.py", ("..",), "x", "a/x.py"),
        (("../lib/x.py", "a/run.py"), "a/run.py", ("../lib",), "x", "../lib/x.py"),
        (("lib/pkg/pkg.py", "pkg/pkg.py"), "lib/pkg/pkg.py", ("lib",), "pkg.pkg", "lib/pkg/pkg.py"),
        (OWN, "logs/base.py", ("logs",), "wandb", "logs/wandb.py"),
        (STANDARD, "tool/deep/y.py", ("tool",), "random", None),
    ],
)
def test_folders_added_to_the_path_are_searched(
    files: tuple[str, ...], importer: str, extra: tuple[str, ...], target: str, found: str | None
) -> None:
    assert Imports(files).find(target, importer, extra=extra) == found


def test_a_folder_above_all_files_is_no_namespace() -> None:
    imports = Imports(["/w/a/torch/train.py", "/w/a/torch/deep/net.py"])
    assert imports.is_namespace("deep", "/w/a/torch/train.py")
    assert not imports.is_namespace("w.a", "/w/a/torch/train.py")
    assert not imports.is_namespace("a.torch", "/w/a/torch/train.py")


def test_answers_do_not_depend_on_earlier_questions() -> None:
    imports = Imports((*STRAY, *EXAMPLES, *OWN))
    assert imports.find("lib.net", "ex/a/run.py") == "ex/a/lib/net.py"
    assert imports.find("lib.net", "ex/b/run.py") == "ex/b/lib/net.py"
    assert imports.find("utils", "examples/c/train.py", "examples/a/train.py") == "examples/a/utils.py"
    assert imports.find("utils", "examples/c/train.py") is None
    assert imports.find("utils", "examples/c/train.py", extra=["examples/b"]) == "examples/b/utils.py"
    assert imports.find("tensorboard", "alone/x.py") == "alone/tensorboard.py"
    assert imports.find("tensorboard", "alone/tensorboard.py") is None


def test_the_script_comes_before_folders_added_to_the_path() -> None:
    assert Imports(EXAMPLES).find("utils", "lib.py", "examples/a/train.py", ("examples/b",)) == "examples/a/utils.py"


@pytest.mark.parametrize(
    ("files", "importer", "target", "expected"),
    [
        (NAMESPACE, "main.py", "pkg", True),
        (NAMESPACE, "main.py", "pkg.deep", True),
        (NAMESPACE, "main.py", "pkg.deep.net", False),
        (NAMESPACE, "main.py", "deep", False),
        (NAMESPACE, "pkg/top.py", "deep", True),
        (NAMESPACE, "main.py", "other", False),
        (KINDS, "both.py", "space", True),
        (KINDS, "x/y.py", "space", False),
        (KINDS, "both.py", "both", False),
        (KINDS, "both.py", "mixed", False),
        (PLUGIN, "app/run.py", "space.more", True),
        (SRC, "run.py", "src", True),
        (SRC, "run.py", "pkg.sub", False),
        (("logging/a.py", "b.py"), "b.py", "logging", False),
    ],
)  # fmt: skip
def test_a_folder_without_an_init_file_is_a_namespace_where_no_module_has_its_name(
    files: tuple[str, ...], importer: str, target: str, expected: bool
) -> None:
    assert Imports(files).is_namespace(target, importer) is expected


@pytest.mark.parametrize(
    ("importer", "level", "module", "found"),
    [
        ("src/pkg/a.py", 1, "", "src/pkg/__init__.py"),
        ("src/pkg/a.py", 1, "sub", "src/pkg/sub/__init__.py"),
        ("src/pkg/a.py", 1, "sub.b", "src/pkg/sub/b.py"),
        ("src/pkg/__init__.py", 1, "a", "src/pkg/a.py"),
        ("src/pkg/__init__.py", 1, "", "src/pkg/__init__.py"),
        ("src/pkg/sub/b.py", 2, "a", "src/pkg/a.py"),
        ("src/pkg/sub/b.py", 2, "", "src/pkg/__init__.py"),
        ("src/pkg/sub/b.py", 2, "missing", None),
        ("src/pkg/sub/b.py", 2, "a.Thing", None),
        ("src/pkg/sub/b.py", 1, "a", None),
        ("src/pkg/a.py", 9, "a", None),
        ("pkg/deep/net.py", 1, "core.ops", "pkg/deep/core/ops.py"),
        ("pkg/deep/net.py", 2, "top", "pkg/top.py"),
        ("pkg/deep/net.py", 2, "", None),
        ("main.py", 1, "run", "run.py"),
        ("main.py", 2, "run", None),
        ("random/random.py", 1, "random", "random/random.py"),
        ("../x/a.py", 3, "run", None),
    ],
)
def test_a_relative_import_goes_by_folders(importer: str, level: int, module: str, found: str | None) -> None:
    assert Imports((*SRC, *NAMESPACE, "random/random.py")).relative(importer, level, module) == found


@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        (SRC, "src/pkg/sub/b.py", "pkg.sub.b"),
        (SRC, "src/pkg/__init__.py", "pkg"),
        (SRC, "tests/test_a.py", "test_a"),
        (EXAMPLES, "examples/a/train.py", "a.train"),
        (EXAMPLES, "examples/d/sub/train.py", "sub.train"),
        (COPIES, "one/pkg/a.py", "one.pkg.a"),
        (("a/x.py", "x.py"), "x.py", "x"),
        (("a/x.py", "x.py"), "a/x.py", "a.x"),
        (("../w/x.py", "y.py"), "../w/x.py", "x"),
        (("../x.py", "x.py"), "../x.py", "x"),
        (("__init__.py", "y.py"), "__init__.py", "__init__"),
        (("nb.ipynb", "y.py"), "nb.ipynb", "nb"),
        (("/w/pkg/__init__.py", "/w/pkg/a.py"), "/w/pkg/a.py", "pkg.a"),
        ((), "elsewhere/z.py", "z"),
    ],
)
def test_a_file_is_named_from_its_top_level_package_on(files: tuple[str, ...], path: str, name: str) -> None:
    assert Imports(files).name(path) == name


def test_files_that_share_a_name_are_told_apart() -> None:
    files = [*EXAMPLES, *COPIES, *KINDS, *STRAY]
    imports = Imports(files)
    names = {imports.name(file) for file in files if file != "both.py"}  # both.py and both/ are one module's name
    assert len(names) == len(files) - 1


@pytest.mark.parametrize(
    ("files", "target", "expected"),
    [
        (SRC, "pkg.a.Thing", True),
        (SRC, "pkg", True),
        (SRC, "run", True),
        (SRC, "sub", False),
        (SRC, "torch.nn", False),
        (EXAMPLES, "utils.seed", True),
        (NAMESPACE, "pkg.deep", True),
        (NAMESPACE, "deep", False),
        (("examples/torch/train.py",), "torch.nn", False),
        (OWN, "wandb", False),
        (STANDARD, "random", False),
        (("code/__init__.py", "code/a.py"), "code.a", True),
        (LIBRARY, "timm", True),
        (("logging/a.py",), "logging.a", False),
        (("src/space/a.py", "run.py"), "space.a", True),
    ],
)
def test_a_name_is_local_where_the_project_has_it_at_the_top(
    files: tuple[str, ...], target: str, expected: bool
) -> None:
    assert Imports(files).local_root(target) is expected
    assert Imports(f"/w/{file}" for file in (*files, "top.py")).local_root(target) is expected


def test_paths_alone_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unseen.py").touch()
    imports = Imports(["a.py", "absent.py"])
    assert imports.find("absent", "a.py") == "absent.py"
    assert imports.find("unseen", "a.py") is None


def test_the_order_of_the_files_does_not_matter() -> None:
    files = sorted({*SRC, *EXAMPLES, *COPIES, *PLUGIN, *KINDS})
    there, back = Imports(files), Imports(reversed(files))
    for importer in files:
        assert there.name(importer) == back.name(importer)
        for target in ("pkg", "pkg.a", "utils", "tool.core", "q.x", "space", "more", "mixed.inner"):
            assert there.find(target, importer) == back.find(target, importer)
            assert there.is_namespace(target, importer) == back.is_namespace(target, importer)
