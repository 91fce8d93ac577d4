"""DET401: models that `to_empty` leaves without values, where it works in place."""

from __future__ import annotations

import textwrap

import pytest

from tests.support import report

NET = """
    import torch
    from torch import nn


    class Net(nn.Module):
        def __init__(self, size=4):
            super().__init__()
            self.head = nn.Linear(size, 4)

        def forward(self, x):
            return self.inner(x)

        def inner(self, x):
            return torch.relu(self.head(x))

        def reset_parameters(self):
            self.head.reset_parameters()

    """


def found(text: str, net: str = NET) -> list[tuple[str, int]]:
    """The severity and the line of each finding, lines counted from the end of the class."""
    before = textwrap.dedent(net)
    judged = report({"train.py": before + textwrap.dedent(text)}, ("DET401",)).findings
    return [(each.severity.value, each.finding.place.line - before.count("\n")) for each in judged]


@pytest.mark.parametrize("model", ["Net()", "Net(8)", "nn.Linear(4, 4)", "nn.Linear(4, 4, device='meta')"])
def test_a_model_that_is_emptied_in_place_is_read(model: str) -> None:
    text = f"""
    with torch.device("meta"):
        model = {model}
    print(model)
    model.to_empty(device="cpu")
    print(model(torch.ones(1, 4)))
    """
    assert found(text) == [("error", 5)]


def test_a_size_may_be_a_name_that_is_done_with() -> None:
    text = """
    size = 8
    model = Net(size)
    model.to_empty(device="cpu")
    print(model(torch.ones(1, 8)))
    """
    assert found(text) == [("error", 4)]


def test_what_fills_it_on_some_paths_makes_a_warning() -> None:
    text = """
    def run(path):
        model = Net()
        model.to_empty(device="cpu")
        if path:
            model.load_state_dict(torch.load(path))
        return model(torch.ones(1, 4))
    """
    assert found(text) == [("warning", 4)]


@pytest.mark.parametrize(
    "filled",
    [
        "model.reset_parameters()",
        "model.load_state_dict(torch.load('a.pt'))",
        "model.apply(init)",
        "init(model)",
        "init(model.head)",
        "nn.init.ones_(model.head.weight); nn.init.ones_(model.head.bias)",
        "[nn.init.ones_(each) for each in model.parameters()]",
        "model.head.weight.data.fill_(0)",
        "model.head = nn.Linear(4, 4)",
        "kept.append(model)",
        "other = model; init(other)",
        "model = Net()",
    ],
)
def test_whatever_may_fill_it_keeps_it_silent(filled: str) -> None:
    text = f"""
    model = Net()
    model.to_empty(device="cpu")
    {filled}
    print(model(torch.ones(1, 4)))
    """
    assert found(text) == []


@pytest.mark.parametrize(
    "before",
    [
        "model = build()",
        "model = Net(backbone); ",
        "model = Net(); wrapped = nn.Sequential(model)",
        "model = Net(); models = [model]",
        "model = Net(); head = model.head",
        "model = Net(); model.head.register_forward_pre_hook(init)",
        "model = Net(); torch.use_deterministic_algorithms(True)",
        "model = nn.ReLU()",
    ],
)
def test_whoever_knows_the_model_may_fill_it(before: str) -> None:
    text = """
    {}
    model.to_empty(device="cpu")
    refill()
    print(model(torch.ones(1, 4)))
    init(backbone)
    """
    assert found(text.format("model = Net()")) == [("error", 3)]
    assert found(text.format(before)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return self.inner(x)", "self.reset_parameters(); return self.inner(x)"),
        ("return torch.relu(self.head(x))", "init(self.head); return self.head(x)"),
        ("return torch.relu(self.head(x))", "nn.init.ones_(self.head.weight); return self.head(x)"),
        ("return torch.relu(self.head(x))", "self.head.weight.data[:] = 0; return self.head(x)"),
        ("return torch.relu(self.head(x))", "return x"),
        ("self.head = nn.Linear(size, 4)", "self.head = nn.Linear(size, 4); REGISTRY.append(self)"),
        ("self.head = nn.Linear(size, 4)", "self.head = nn.ReLU()"),
        ("self.head = nn.Linear(size, 4)", "self.head = nn.Linear(size, 4) if size else nn.ReLU()"),
        ("class Net(nn.Module)", "class Net(Base)"),
        ("def reset_parameters(self)", "def _apply(self, function)"),
    ],
)
def test_a_class_that_may_fill_itself_or_holds_nothing_is_left_alone(old: str, new: str) -> None:
    text = """
    model = Net()
    model.to_empty(device="cpu")
    print(model(torch.ones(1, 4)))
    """
    assert old in NET
    assert found(text) == [("error", 3)]
    assert found(text, NET.replace(old, new)) == []


@pytest.mark.parametrize("call", ["model.to_empty(device='meta')", "model.to_empty(device='cpu', recurse=False)"])
def test_what_leaves_no_memory_or_only_some_of_it_is_left_alone(call: str) -> None:
    assert found(f"model = Net()\n{call}\nprint(model(torch.ones(1, 4)))\n") == []


def test_a_model_that_other_functions_know_is_left_alone() -> None:
    text = """
    model = Net()


    def fill():
        init(model)


    model.to_empty(device="cpu")
    fill()
    print(model(torch.ones(1, 4)))
    """
    assert found(text) == []
