"""Checkpoints as people write them: what must be reported, what must not, and what the fix makes of their layouts."""

from __future__ import annotations

import pytest

from .support import report
from .test_rule_fixes import fixed

RESUME = """
def resume(optimizer, path):
    checkpoint = torch.load(path)
    optimizer.load_state_dict(checkpoint["optimizer"])
"""


def saving(written: str, resume: str = RESUME) -> str:
    return f"import torch\n\n\ndef save(optimizer, epoch, to):\n    torch.save({written}, to)\n\n{resume}"


LAYOUTS = [
    ("on one line", '{"o": optimizer.state_dict(), "e": epoch}', '{"o": optimizer.state_dict(), "e": epoch, "rng_state": rng_state()}'),
    ("on one line, with a comma", "{'o': optimizer.state_dict(), 'e': epoch,}",
     "{'o': optimizer.state_dict(), 'e': epoch, 'rng_state': rng_state(),}"),
    ("on one line that gets too long", '{"optimizer": optimizer.state_dict(), "epoch": (epoch + 1),}',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": (epoch + 1),\n        "rng_state": rng_state(),\n    }'),
    ("a line each", '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,\n    }',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,\n        "rng_state": rng_state(),\n    }'),
    ("without the last comma", '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch\n    }',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,\n        "rng_state": rng_state()\n    }'),
    ("with comments", '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,  # done\n    }',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,  # done\n'
     '        "rng_state": rng_state(),\n    }'),
    ("with a comment and no comma", '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch  # done\n    }',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": epoch,  # done\n'
     '        "rng_state": rng_state()\n    }'),
    ("in parentheses", '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": (  # )\n            epoch\n        )\n    }',
     '{\n        "optimizer": optimizer.state_dict(),\n        "epoch": (  # )\n            epoch\n        ),\n'
     '        "rng_state": rng_state()\n    }'),
    ("by a call", "dict(o=optimizer.state_dict(), e=epoch)", "dict(o=optimizer.state_dict(), e=epoch, rng_state=rng_state())"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [c[1:] for c in LAYOUTS], ids=[c[0] for c in LAYOUTS])
def test_the_entry_is_laid_out_as_the_others(before: str, after: str) -> None:
    resume = RESUME if 'optimizer"' in before else RESUME.replace('"optimizer"', '"o"')
    text = fixed(saving(before, resume), "DET701")
    assert f"    torch.save({after}, to)\n" in text
    assert text.endswith('    if "rng_state" in checkpoint:\n        set_rng_state(checkpoint["rng_state"])\n')


FILLED = """\
import torch


def save(optimizer, epoch, to):
    state = {made}
    {filled}
    torch.save(state, to)

"""


@pytest.mark.parametrize(
    ("made", "after"),
    [
        ("{}", '{"rng_state": rng_state()}'),
        ("{  # nothing yet\n    }", '{"rng_state": rng_state()  # nothing yet\n    }'),
        ("dict()", "dict(rng_state=rng_state())"),
    ],
)
@pytest.mark.parametrize(
    "filled",
    [
        'state.update({"optimizer": optimizer.state_dict(), "epoch": epoch})',
        "state.update(optimizer=optimizer.state_dict(), epoch=epoch)",
        'state["optimizer"] = optimizer.state_dict()\n    state["epoch"] = epoch',
    ],
)
def test_a_dict_that_is_filled_after_it_was_made_gets_its_first_entry(made: str, after: str, filled: str) -> None:
    text = fixed(FILLED.replace("{made}", made).replace("{filled}", filled) + RESUME, "DET701")
    assert f"    state = {after}\n" in text
    compile(text, "train.py", "exec")


DICT = '{"optimizer": optimizer.state_dict(), "epoch": epoch}'
LOAD = 'optimizer.load_state_dict(checkpoint["optimizer"])'


@pytest.mark.parametrize(
    "resume",
    [
        f"def resume(optimizer, path):\n    checkpoint = torch.load(path); {LOAD}\n",
        f"def resume(optimizer, path):\n    checkpoint = torch.load(path)\n    if path: {LOAD}\n",
        f"def resume(optimizer, path):\n    checkpoint = torch.load(path)\n    {LOAD}; return checkpoint\n",
        "def resume(optimizer, path):\n    checkpoint = torch.load(path)\n    done = " + LOAD + "\n",
        'def resume(optimizer, path):\n    state = torch.load(path)["optimizer"]\n    optimizer.load_state_dict(state)\n',
    ],
    ids=["after a semicolon", "on the line of its if", "before a semicolon", "as a value", "without the checkpoint"],
)
def test_a_state_that_cannot_be_restored_is_not_saved_either(resume: str) -> None:
    text = saving(DICT, resume)
    assert fixed(text, "DET701") == text


def test_what_is_inserted_is_indented_as_the_file_is() -> None:
    resume = f"def resume(optimizer, path):\n\tcheckpoint = torch.load(path)\n\t{LOAD}  # all\n\treturn checkpoint\n"
    text = fixed(saving(DICT, resume).replace("    ", "\t"), "DET701")
    assert '# all\n\tif "rng_state" in checkpoint:\n\t\tset_rng_state(checkpoint["rng_state"])\n\treturn' in text


def test_the_state_is_restored_once_in_each_place_that_resumes() -> None:
    other = RESUME.replace("resume", "again").replace("checkpoint", "state")
    text = fixed(saving(DICT, RESUME + "\n" + other), "DET701")
    assert text.count("set_rng_state(checkpoint[") == text.count("set_rng_state(state[") == 1


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ("", "note"),
        ("loader = DataLoader(data, shuffle=True, generator=g)\n", "warning"),
        ("drop = nn.Dropout(p)\n", "warning"),
    ],
)
def test_it_is_a_warning_where_the_file_shows_that_training_draws(more: str, severity: str) -> None:
    text = f"from torch import nn\nfrom torch.utils.data import DataLoader\n{more}{saving(DICT)}"
    (found,) = report({"example.py": text}, ("DET701",)).findings
    assert found.severity.value == severity


def test_the_state_of_one_process_is_not_given_to_all() -> None:
    text = f"import torch.distributed as dist\n\ndist.init_process_group()\n{saving(DICT)}"
    assert fixed(text, "DET701") == text
    (found,) = report({"example.py": text}, ("DET701",)).findings
    assert found.finding.fix is not None
    assert found.finding.fix.safety.value == "display"


def test_a_test_resumes_nothing_that_anybody_goes_on_with() -> None:
    text = saving(DICT)
    assert report({"resuming.py": text}, ("DET701",)).findings
    assert not report(
        {"test_resuming.py": f"{text}\n\ndef test_it():\n    resume(None, 'a.pt')\n"}, ("DET701",)
    ).findings


FABRIC = """\
import lightning as L


def main(fabric: L.Fabric, model, optimizer, args):
    rest = fabric.load(args.resume, {"model": model, "optimizer": optimizer})
    for epoch in range(rest["epoch"], 4):
        fabric.save("last.ckpt", {"model": model, "optimizer": optimizer, "epoch": epoch})
"""


def test_the_state_is_restored_from_what_a_library_leaves_of_a_checkpoint() -> None:
    (found,) = report({"example.py": FABRIC}, ("DET701",)).findings
    assert found.finding.fix is not None
    assert found.finding.fix.safety.value == "display"
    entry, restored = (edit.text for edit in found.finding.fix.edits)
    assert '"rng_state": rng_state()' in entry
    assert restored.split("\n", 1)[1] == '    if "rng_state" in rest:\n        set_rng_state(rest["rng_state"])'


def test_what_a_library_leaves_of_a_checkpoint_may_have_no_name() -> None:
    (found,) = report({"example.py": FABRIC.replace("rest = ", "").replace('rest["epoch"]', "0")}, ("DET701",)).findings
    assert found.finding.fix is None


def test_a_library_is_reported_in_its_own_words() -> None:
    text = "import lightning as L\n\n\ndef main(model, path):\n    L.Trainer().fit(model, ckpt_path=path)\n"
    (found,) = report({"example.py": text}, ("DET701",)).findings
    assert found.severity.value == "note"
    assert found.finding.message.startswith("the checkpoint that the run is resumed from")
    assert "on_load_checkpoint" in found.finding.details["remedy"]


DEEPSPEED = """\
import deepspeed


def main(model):
    engine, _, loader, _ = deepspeed.initialize(model=model, config="ds.json")
    _, state = engine.load_checkpoint("out")
    for epoch in range(state["epoch"], 4):
        engine.save_checkpoint("out", client_state={"epoch": epoch})
"""
DETECTRON2 = """\
from detectron2.checkpoint import DetectionCheckpointer


def main(model, optimizer, path):
    checkpointer = DetectionCheckpointer(model, "out", optimizer=optimizer)
    state = checkpointer.resume_or_load(path)
    for step in range(state.get("iteration", 0), 100):
        checkpointer.save("last", iteration=step)
"""


@pytest.mark.parametrize(
    ("text", "entry"),
    [(DEEPSPEED, '"rng_state": rng_state()'), (DETECTRON2, "rng_state=rng_state()")],
    ids=["in a dict of its own", "as a keyword"],
)
def test_an_object_saves_the_state_beside_its_own_and_gives_it_back(text: str, entry: str) -> None:
    (found,) = report({"example.py": text}, ("DET701",)).findings
    assert found.finding.fix is not None
    assert found.finding.fix.safety.value == "display"
    saved, restored = (edit.text for edit in found.finding.fix.edits)
    assert entry in saved
    assert restored == '\n    if "rng_state" in state:\n        set_rng_state(state["rng_state"])'
