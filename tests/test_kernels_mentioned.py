"""Kernels in code that no other file of a project with programs mentions are notes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from detlint import catalogue, engine
from detlint.config import Config

from .support import report

LAYERS: Final = '''\
from torch import nn
from torch.nn import functional as F

__all__ = ["Head", "Pool"]


class Base(nn.Module):
    def forward(self, x):
        return self.layer(x)


class Head(Base):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)

    def {method}(self, x):
        """Resize, as `{method}` does."""
        return F.interpolate(self.layer(x), scale_factor=2, mode="bilinear")


class Pool(nn.Module):
    pass
{more}
'''
TRAIN: Final = """\
import torch
{imports}

if __name__ == "__main__":
    head = {made}
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    head(torch.ones(1, 3, 8, 8, device="cuda")).sum().backward()
    optimizer.step()
"""


def said(files: dict[str, str], method: str = "forward", more: str = "") -> list[str]:
    """How grave what is said of the head is."""
    layers = LAYERS.format(method=method, more=more)
    found = report({"net/layers.py": layers, **files}, ("DET302",)).findings
    return [judged.severity.value for judged in found if judged.finding.code == "DET302"]


def train(imports: str, made: str) -> str:
    return TRAIN.format(imports=imports, made=made)


OTHER: Final = train("from net.layers import Pool", "Pool()")


def test_what_only_a_package_exports_and_tests_use_is_a_note() -> None:
    tests = {"tests/test_head.py": "from net.layers import Head\n\n\ndef test_head():\n    assert Head()\n"}
    assert said({"train.py": OTHER, "net/__init__.py": "from .layers import Head, Pool\n", **tests}) == ["note"]


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": train("from net.layers import Head", "Head()")},
        {"train.py": train("from net import layers", "layers.Head()")},
        {"train.py": train("import net.layers", "net.layers.Head()")},
        {"train.py": OTHER, "net/models.py": "from .layers import Head\n\n\ndef build():\n    return Head()\n"},
        {"train.py": train("from net import layers", "getattr(layers, 'Head')()")},
        {"train.py": OTHER, "net/__init__.py": "from .layers import Head\n\n\ndef build():\n    return Head()\n"},
    ],
    ids=["imported", "by its module", "by a dotted name", "by a library's file", "by a text", "by the package itself"],
)
def test_what_another_file_mentions_is_a_warning(files: dict[str, str]) -> None:
    assert said(files) == ["warning"]


@pytest.mark.parametrize(
    "more",
    ["\n\nHEADS = {'flat': Head}\n", "\n\ndef build():\n    return Head()\n\n\nbuild()\n", "\n\nNAMES = ['Head']\n"],
    ids=["in a table", "called as it is imported", "named by a text"],
)
def test_what_its_own_file_uses_as_it_is_imported_is_a_warning(more: str) -> None:
    assert said({"train.py": OTHER}, more=more) == ["warning"]


@pytest.mark.parametrize(
    ("more", "user"),
    [
        ("\n\ndef build():\n    return Head()\n", "build"),
        ("\n\ndef build():\n    return Head()\n\n\ndef build_all():\n    return build()\n", "build_all"),
        ("\n\nclass Wide(Head):\n    pass\n", "Wide"),
    ],
    ids=["called", "called by what is called", "derived from"],
)
def test_what_its_own_file_uses_is_a_warning_where_another_file_mentions_the_user(more: str, user: str) -> None:
    assert said({"train.py": train(f"from net.layers import {user}", f"{user}()")}, more=more) == ["warning"]
    assert said({"train.py": OTHER}, more=more) == ["note"]


COMMAND: Final = """\
import torch
from torch.nn import functional as F


def {name}():
    x = torch.ones(1, 3, 8, 8, device="cuda", requires_grad=True)
    F.interpolate(x, scale_factor=2, mode="bilinear").sum().backward()
"""


@pytest.mark.parametrize(("name", "severity"), [("train_it", "warning"), ("other", "note")])
def test_what_a_command_starts_with_is_a_warning(
    name: str, severity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/__init__.py").touch()
    (tmp_path / "net/train.py").write_text(COMMAND.format(name=name))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "net"\nscripts.net = "net.train:train_it"\n')
    monkeypatch.chdir(tmp_path)
    checked = engine.check_paths([Path()], Config(select=("DET302",)), catalogue.load().newest_release(), jobs=1)
    assert [judged.severity.value for judged in checked.findings] == [severity]


def test_a_method_that_nothing_calls_is_a_note() -> None:
    files = {"train.py": train("from net.layers import Head", "Head()")}
    assert said(files, method="enlarge") == ["note"]
    called = train("from net.layers import Head", "Head()") + "    head.enlarge(torch.ones(1, 3, 8, 8))\n"
    assert said({"train.py": called}, method="enlarge") == ["warning"]
