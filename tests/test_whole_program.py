"""Findings that depend on the programs that get to them: what is in force there, how they end, whose code it is."""

from __future__ import annotations

import pytest

from tests.support import report

TRAIN = """
import torch
{imports}
if __name__ == "__main__":
    torch.manual_seed(0)
    {before}
    head = Head()
    {after}
    loss = head(torch.rand(1, 3, 8, 8)).sum()
    loss.backward()
    optimizer.step()
"""
HEAD = """
import torch
from torch import nn
from torch.nn import functional as F
class Head(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode="{mode}")
"""
ON = "torch.use_deterministic_algorithms(True)"
WARN = "torch.use_deterministic_algorithms(True, warn_only=True)"
OFF = "torch.use_deterministic_algorithms(False)"
KERNELS = ("DET301", "DET302", "DET303", "DET306")


def train(before: str = "pass", after: str = "pass", imports: str = "from model import Head") -> str:
    return TRAIN.format(before=before, after=after, imports=imports)


def found(files: dict[str, str], *select: str, torch: str | None = None) -> list[tuple[str, str]]:
    return [(judged.finding.place.path, judged.finding.code) for judged in report(files, select, torch).findings]


LAYER = """
from torch import nn
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.Upsample(scale_factor=2, mode="{mode}")
    def forward(self, x):
        return self.grow(x)
"""


@pytest.mark.parametrize(
    ("before", "after", "mode", "expected"),
    [
        ("pass", "pass", "bilinear", ["DET302"]),
        (ON, "pass", "bilinear", []),
        ("pass", ON, "bilinear", []),
        ("pass", ON, "bicubic", ["DET306"]),
        ("pass", WARN, "bicubic", ["DET302"]),
    ],
)
def test_a_layer_may_be_made_before_the_mode_is_switched_on(
    before: str, after: str, mode: str, expected: list[str]
) -> None:
    files = {"train.py": train(before, after), "model.py": LAYER.format(mode=mode)}
    assert [code for _, code in found(files, *KERNELS)] == expected


@pytest.mark.parametrize(
    ("before", "after", "mode", "expected"),
    [
        ("pass", "pass", "bilinear", "DET302"),
        (ON, "pass", "bilinear", ""),
        ("pass", ON, "bilinear", ""),
        (WARN, "pass", "bilinear", ""),
        (ON, OFF, "bilinear", "DET302"),
        ("if unknown():\n        " + ON, "pass", "bilinear", "DET302"),
        ("torch.set_deterministic_debug_mode('error')", "pass", "bilinear", ""),
        ("pass", "pass", "bicubic", "DET302"),
        (ON, "pass", "bicubic", "DET306"),
        (WARN, "pass", "bicubic", "DET302"),
        (ON, OFF, "bicubic", "DET302"),
        (ON, WARN, "bicubic", "DET302"),
    ],
)
def test_the_mode_in_which_a_program_gets_to_an_operation_decides(
    before: str, after: str, mode: str, expected: str
) -> None:
    files = {"train.py": train(before, after), "model.py": HEAD.format(mode=mode)}
    assert found(files, *KERNELS) == ([("model.py", expected)] if expected else [])


def test_one_program_without_the_mode_is_enough_for_a_finding() -> None:
    files = {"train.py": train(ON), "tune.py": train(), "model.py": HEAD.format(mode="bilinear")}
    assert found(files, *KERNELS) == [("model.py", "DET302")]
    files["model.py"] = HEAD.format(mode="bicubic")
    assert found(files, *KERNELS) == [("model.py", "DET302")]


def test_the_mode_is_followed_into_helpers_of_other_files() -> None:
    helper = f"import torch\ndef exact():\n    {ON}\n"
    imports = "from model import Head\nfrom helper import exact\n"
    model = HEAD.format(mode="bilinear")
    assert (
        found({"train.py": train("exact()", imports=imports), "helper.py": helper, "model.py": model}, *KERNELS) == []
    )
    uncalled = {"train.py": train(imports=imports), "helper.py": helper, "model.py": model}
    assert found(uncalled, *KERNELS) == [("model.py", "DET302")]


def test_an_option_that_is_off_by_default_leaves_the_mode_off() -> None:
    before = "p = argparse.ArgumentParser()\n    p.add_argument('--exact', action='store_true')\n"
    before += f"    a = p.parse_args()\n    if a.exact:\n        {ON}"
    files = {
        "train.py": train(before, imports="import argparse\nfrom model import Head"),
        "model.py": HEAD.format(mode="bilinear"),
    }
    assert found(files, *KERNELS) == [("model.py", "DET302")]


REGISTERED = """
import torch
import model
if __name__ == "__main__":
    {before}
    build("Head")(1).backward()
    optimizer.step()
"""


def test_code_that_no_program_gets_to_is_judged_by_the_programs_that_import_it() -> None:
    head = HEAD.format(mode="bilinear")
    on = REGISTERED.format(before=ON)
    assert found({"train.py": on, "model.py": head}, *KERNELS) == []
    assert found({"train.py": on, "tune.py": REGISTERED.format(before="pass"), "model.py": head}, *KERNELS) == [
        ("model.py", "DET302")
    ]
    aside = "import model\nif __name__ == '__main__':\n    print(model.Head)\n"
    assert found({"train.py": on, "show.py": aside, "model.py": head}, *KERNELS) == []  # it does not train
    through = {"train.py": on.replace("import model", "import zoo"), "zoo.py": "import model\n", "model.py": head}
    assert found(through, *KERNELS) == []


def test_code_that_no_program_gets_to_may_switch_the_mode_on_by_itself() -> None:
    body = f"    before = torch.are_deterministic_algorithms_enabled()\n    {ON}\n    try:\n        return x.scatter_add(0, i, x)\n"
    text = f"import torch\n@torch.library.custom_op('a::b')\ndef add(x: torch.Tensor, i):\n{body}"
    files = {
        "train.py": REGISTERED.format(before="pass"),
        "model.py": f"{text}    finally:\n        torch.use_deterministic_algorithms(before)\n",
    }
    assert found(files, *KERNELS) == []
    files["model.py"] = files["model.py"].replace(ON, OFF)
    assert found(files, *KERNELS) == [("model.py", "DET301")]


def test_code_that_no_program_imports_is_judged_by_its_file() -> None:
    head = HEAD.format(mode="bilinear")
    assert found({"model.py": head}, *KERNELS) == [("model.py", "DET302")]
    assert found({"model.py": f"{head}def exact():\n    {ON}\n"}, *KERNELS) == []
    assert found({"model.py": f"{head}def exact():\n    {ON}\n".replace("bilinear", "bicubic")}, *KERNELS) == [
        ("model.py", "DET306")
    ]


def test_a_file_that_switches_the_mode_on_and_off_is_not_known_to_raise() -> None:
    text = HEAD.format(mode="bicubic") + f"def exact():\n    {ON}\ndef relax():\n    {OFF}\n"
    assert found({"model.py": text}, *KERNELS) == [("model.py", "DET302")]


def test_no_call_is_reported_as_varying_and_as_raising() -> None:
    body = "torch.scatter_reduce(x, 0, i, x, 'prod'), F.interpolate(x, size=3, mode='area'), x.put_(i, x)"
    text = f"import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nclass Net(nn.Module):\n    def forward(self, x: torch.Tensor, i):\n        return {body}\n"
    off = report({"model.py": text}, KERNELS).findings
    on = report({"model.py": f"{text}{ON}\n"}, KERNELS).findings
    assert {judged.finding.code for judged in on} == {"DET306"}
    assert {judged.finding.place for judged in off} <= {judged.finding.place for judged in on}
    assert len({judged.finding.place for judged in on}) == len(on)


def test_the_target_version_decides_between_a_path_and_an_error() -> None:
    files = {"train.py": train(ON), "model.py": HEAD.format(mode="bilinear")}
    assert found(files, *KERNELS, torch="2.1") == []
    assert found(files, *KERNELS, torch="1.13") == [("model.py", "DET306")]


# Switches

BENCHMARK = "import torch\ndef fast():\n    torch.backends.cudnn.benchmark = True\n"
CALL = "import torch\nimport lib\nif __name__ == '__main__':\n    {}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("lib.fast()", ["DET501"]),
        ("lib.fast()\n    torch.backends.cudnn.benchmark = False", []),
        ("torch.backends.cudnn.benchmark = False\n    lib.fast()", ["DET501"]),
        ("lib.fast()\n    if unknown():\n        torch.backends.cudnn.benchmark = False", ["DET501"]),
        (f"lib.fast()\n    {ON}", ["DET501"]),
        ("torch.backends.cudnn.benchmark = False", ["DET501"]),
    ],
)
def test_a_benchmark_that_every_program_switches_off_again_is_no_finding(body: str, expected: list[str]) -> None:
    files = {"train.py": CALL.format(body), "lib.py": BENCHMARK}
    assert [code for _, code in found(files, "DET501")] == expected


def test_a_second_program_that_leaves_the_benchmark_on_brings_the_finding_back() -> None:
    good = CALL.format("lib.fast()\n    torch.backends.cudnn.benchmark = False")
    files = {"train.py": good, "test.py": CALL.format("lib.fast()"), "lib.py": BENCHMARK}
    assert found(files, "DET501") == [("lib.py", "DET501")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n    lib.exact()", []),
        ("lib.exact()\n    os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'", []),
        ("os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')\n    lib.exact()", []),
        ("os.environ['OTHER'] = ':4096:8'\n    lib.exact()", ["DET504"]),
        ("lib.exact()", ["DET504"]),
    ],
)
def test_the_workspace_of_cublas_may_be_set_in_another_file(body: str, expected: list[str]) -> None:
    files = {"train.py": "import os\n" + CALL.format(body), "lib.py": f"import torch\ndef exact():\n    {ON}\n"}
    assert [code for _, code in found(files, "DET504", torch="2.9")] == expected


def test_tuning_of_compiled_code_is_harmless_where_the_programs_switch_the_mode_on() -> None:
    lib = "import torch\ndef build(model):\n    return torch.compile(model, mode='max-autotune')\n"
    after = CALL.format(f"model = lib.build(1)\n    {ON}")  # it is compiled when it is called
    assert found({"train.py": CALL.format(f"{ON}\n    lib.build(1)"), "lib.py": lib}, "DET506") == []
    assert found({"train.py": after, "lib.py": lib}, "DET506") == []
    assert found({"train.py": CALL.format("lib.build(1)"), "lib.py": lib}, "DET506") == [("lib.py", "DET506")]
    old = {"train.py": CALL.format(f"{ON}\n    lib.build(1)"), "lib.py": lib}
    assert found(old, "DET506", torch="2.9") == [("lib.py", "DET506")]


# Libraries

RESEEDS = "import torch\ndef halves(n):\n    torch.manual_seed(0)\n    return torch.randperm(n)\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("lib/split.py", ["DET108"]), ("split.py", []), ("lib/test_split.py", ["DET108"]), ("tests/lib/split.py", [])],
)
def test_library_code_is_what_others_import(path: str, expected: list[str]) -> None:
    assert [code for _, code in found({path: RESEEDS}, "DET108", "DET109")] == expected


def test_tests_are_no_library() -> None:
    tests = {"lib/test_split.py": f"{RESEEDS}def test_halves():\n    assert len(halves(2)) == 2\n"}
    assert found(tests, "DET108", "DET109") == []


@pytest.mark.parametrize("script", ["if __name__ == '__main__':\n    halves(3)\n", "print(halves(3))\n"])
def test_a_script_is_no_library(script: str) -> None:
    assert found({"split.py": RESEEDS + script, "other.py": "x = 1\n"}, "DET108", "DET109") == []


def test_a_seed_restarts_a_stream_only_where_the_program_has_begun_one() -> None:
    first = "import torch\nimport split\nif __name__ == '__main__':\n    split.halves(3)\n"
    assert found({"train.py": first, "split.py": RESEEDS}, "DET108") == []
    later = first.replace("    split", "    torch.manual_seed(1)\n    split")
    assert found({"train.py": later, "split.py": RESEEDS}, "DET108") == [("split.py", "DET108")]
    twice = first.replace("    split", "    for _ in range(3):\n        split")
    assert found({"train.py": twice, "split.py": RESEEDS}, "DET108") == [("split.py", "DET108")]


def test_draws_of_a_library_count_where_no_program_of_the_project_gets_to_them() -> None:
    noise = "import torch\ndef used():\n    return torch.rand(1)\ndef offered():\n    return torch.rand(1)\n"
    script = "import torch\nimport noise\nif __name__ == '__main__':\n    torch.manual_seed(0)\n    noise.used()\n"
    found_ = report({"train.py": script, "noise.py": noise}, ("DET109",)).findings
    assert [judged.finding.place.line for judged in found_] == [5]


def test_rules_about_libraries_are_off_by_default() -> None:
    codes = {
        code for _, code in found({"lib/split.py": RESEEDS, "lib/draw.py": RESEEDS.replace("manual_seed", "rand")})
    }
    assert codes.isdisjoint({"DET108", "DET109"})
