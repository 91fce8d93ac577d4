"""Orders of sets, directories and hashes, as people use them: what must be reported, and what must not."""

from __future__ import annotations

import pytest

from .support import report
from .test_rule_fixes import fixed


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("def f(text):\n    return {w: i for i, w in enumerate(set(text.split()))}\n", "error"),
        ("def f(model):\n    return list(set(model.parameters()))[1:]\n", "error"),
        ("with open('a') as f:\n    t = f.read()\nd = {c: i for i, c in enumerate(set(t))}\n", "error"),
        ("with open('a', 'r') as f:\n    t = f.read()\nc = tuple(set(t))\nd = dict(enumerate(c))\n", "error"),
        ("def f(s):\n    t = s.read()\n    return {c: i for i, c in enumerate(set(t))}\n", "warning"),
        ("def f(m):\n    t = open('a', m).read()\n    return {c: i for i, c in enumerate(set(t))}\n", "warning"),
        ("def f(words):\n    return {w: i for i, w in enumerate(set(words))}\n", "warning"),
        ("def f(text):\n    return list(set(text.split()))\n", "note"),
    ],
    ids=[
        "text",
        "addresses",
        "characters of a file",
        "characters of a file, in a dict",
        "not known what is read",
        "not known how it is opened",
        "not known what it is",
        "not known what becomes of it",
    ],
)
def test_an_order_is_an_error_where_it_surely_varies_and_matters(text: str, severity: str) -> None:
    (found,) = report({"example.py": text}, ("DET601",)).findings
    assert found.severity.value == severity


@pytest.mark.parametrize(
    ("made", "remedy"),
    [("text.split()", "sorted"), ("model.parameters()", "dict.fromkeys"), ("things", "dict.fromkeys")],
)
def test_the_help_suits_what_the_set_holds(made: str, remedy: str) -> None:
    text = f"def f(text, model, things):\n    return {{x: i for i, x in enumerate(set({made}))}}\n"
    found = report({"example.py": text}, ("DET601",)).findings
    assert found
    assert all(remedy in judged.finding.details["remedy"] for judged in found)


def test_a_finding_says_where_the_order_comes_to_matter() -> None:
    text = "import os\n\nfiles = os.listdir('data')\nlast = files[-1]\n"
    (found,) = report({"example.py": text}, ("DET602",)).findings
    assert [related.place.line for related in found.finding.related] == [4]


VOCABULARY = """\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
vocab = tokenizer.get_vocab()


class Words:
    def __init__(self):
        self.vocab = tokenizer.get_vocab()

    def number(self):
        return dict(enumerate({}))
"""


@pytest.mark.parametrize(
    ("taken", "new"),
    [
        ("vocab", "sorted(vocab, key=vocab.get)"),
        ("vocab.keys()", "sorted(vocab.keys(), key=vocab.get)"),
        ("list(vocab.items())", "sorted(vocab.items(), key=lambda item: item[1])"),
        ("vocab.values()", "sorted(vocab.values())"),
        ("self.vocab", "sorted(self.vocab, key=self.vocab.get)"),
        ("tokenizer.get_vocab()", "sorted(tokenizer.get_vocab(), key=tokenizer.convert_tokens_to_ids)"),
    ],
)
def test_a_vocabulary_is_sorted_by_its_numbers(taken: str, new: str) -> None:
    assert fixed(VOCABULARY.format(taken), "DET601", unsafe=False) == VOCABULARY.format(new)


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("enumerate(tokenizer.get_vocab())", "error"),
        ("enumerate(AutoTokenizer.from_pretrained(name).vocab)", "warning"),
        ("enumerate(table['label'].unique())", "warning"),
        ("enumerate(table.group_by('label').len().rows())", "error"),
    ],
    ids=["always another order", "not of all models", "not with numbers", "with numbers, too"],
)
def test_an_order_of_a_library_is_an_error_where_it_surely_varies(given: str, severity: str) -> None:
    text = f"""\
        import polars as pl
        from tokenizers import Tokenizer
        from transformers import AutoTokenizer


        def numbers(tokenizer: Tokenizer, table: pl.DataFrame, name):
            return {{name: i for i, name in {given}}}
        """
    (found,) = report({"example.py": text}, ("DET601",)).findings
    assert found.severity.value == severity
