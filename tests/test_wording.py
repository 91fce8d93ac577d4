"""What findings say: sentences that name the code as it is written, the file that is meant, and what to do."""

from __future__ import annotations

import pytest

from detlint import analyse, catalogue
from detlint.analyse import Source
from detlint.analyse import analyse as analysed
from detlint.catalogue import Rule
from detlint.finding import Finding

from .support import expression, module, report

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"


def the(code: str, files: dict[str, str]) -> Finding:
    """The only finding of a rule."""
    (judged,) = report(files, (code,)).findings
    return judged.finding


def helped(finding: Finding) -> str:
    return catalogue.load().rules[finding.code].help.format(**finding.details)


def test_a_draw_in_another_file_names_the_program() -> None:
    files = {
        "net.py": "import torch\ndef make():\n    return torch.rand(2)\n",
        "train.py": "import net\nprint(net.make())\n",
    }
    found = the("DET101", files)
    assert found.message == "`torch.rand` draws from torch's global generator, which `train.py` has not seeded"
    here = the("DET101", {"train.py": "import torch\nprint(torch.rand(2))\n"})
    assert here.message == "`torch.rand` draws from torch's global generator, which this program has not seeded"


def test_a_call_of_one_thing_or_another_says_what_it_may_run() -> None:
    nets = "".join(f"def net{i}():\n    return nn.Linear({i + 1}, 2)\n" for i in range(2))
    main = "def main():\n    model = TABLE[sys.argv[1]]()\n    print(model(torch.ones(2)))\nmain()\n"
    text = f"{HEAD}import sys\n{nets}TABLE = {{'a': net0, 'b': net1}}\n{main}"
    found = the("DET101", {"train.py": text})
    assert found.message == (
        "what this call may run (`torch.nn.Linear`, in `train.py`) draws from torch's global generator,"
        " which this program has not seeded"
    )


def test_a_loader_draws_where_it_is_gone_through() -> None:
    text = f"{HEAD}loader = DataLoader(range(4), shuffle=True)\nfor batch in loader:\n    print(batch)\n"
    found = the("DET101", {"train.py": text})
    assert found.message.startswith("iterating this `torch.utils.data.DataLoader` draws from torch's global generator")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("use_deterministic_algorithms(False)", "switches deterministic algorithms off"),
        ("use_deterministic_algorithms(mode=False)", "switches deterministic algorithms off"),
        (
            "use_deterministic_algorithms(True, warn_only=True)",
            "lets operations that have no deterministic kernel run as before",
        ),
    ],
)
def test_a_switch_is_named_as_it_is_written(call: str, message: str) -> None:
    found = the("DET503", {"train.py": f"import torch\n\ntorch.{call}\n"})
    assert found.message == f"`torch.{call}` {message}"


def test_help_on_dropout_is_a_sentence_and_says_what_holds() -> None:
    net = (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self, p=0.5):\n        super().__init__()\n        self.p = p\n"
    )
    found = the("DET110", {"net.py": f"{net}    def forward(self, x):\n        return F.dropout(x, self.p)\n"})
    assert helped(found) == "pass `training=self.training`"
    attention = "torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=self.p)"
    found = the("DET110", {"net.py": f"{net}    def forward(self, x):\n        return {attention}\n"})
    assert found.message == (
        "`functional.scaled_dot_product_attention` drops in evaluation, too: `dropout_p` holds whatever `eval()` says"
    )
    assert helped(found) == "pass `dropout_p=self.p if self.training else 0.0`"


def test_what_is_called_is_never_cut() -> None:
    text = "a_rather_long_name.of_a_module.with_parts.in_it.that_is_called(1)\nmake('a', 'b', 'c', 'd', 'e', 'f', 'g').shuffle(1)\n"
    made = module(text)
    names = [made.short(expression(made, part)) for part in (text.split("(")[0], text.splitlines()[1][:-3])]
    assert names == ["with_parts.in_it.that_is_called", "make('a', 'b', 'c', 'd', 'e',....shuffle"]


def test_bicubic_is_told_what_bilinear_has() -> None:
    text = f"{HEAD}def f(x: torch.Tensor):\n    F.interpolate(x, scale_factor=2, mode='bicubic').sum().backward()\n"
    assert "which has a deterministic kernel under" in helped(the("DET302", {"train.py": text}))


def test_a_defect_of_a_rule_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(rule: Rule) -> object:
        raise ValueError(rule.code)

    monkeypatch.setattr(analyse, "check_of", broken)
    rules = catalogue.load()
    found = analysed(Source("a.py", "a", "import torch\ntorch.seed()\n"), frozenset(["DET105"]), rules.newest_release())
    (finding,) = found.findings
    assert helped(finding).endswith("ignore the one that failed with `--ignore DET105`")
    assert "mend" not in helped(finding)
    broken_file = analysed(Source("a.py", "a", "def f(:\n"), frozenset(["DET105"]), rules.newest_release())
    assert helped(broken_file.findings[0]).startswith("mend the file")
