"""Draws that only make a port: they decide where processes meet, and nothing that they compute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli

PROGRAM = """import argparse, os, random, torch
import torch.distributed as dist
from launch import launch
torch.manual_seed(0)
{}
torch.save(torch.nn.Linear(1, 1).state_dict(), "x.pt")
"""
ADDRESSES = [
    'os.environ["MASTER_PORT"] = str(random.randint(10_000, 50_000))',
    'port = random.randint(10_000, 50_000)\nos.environ["MASTER_PORT"] = str(port)',
    'port = 10000 + random.randint(0, 500)\ndist.init_process_group("nccl", init_method=f"tcp://localhost:{port}")',
    'port = random.randint(0, 500)\nurl = "tcp://localhost:{}".format(port)\nlaunch(url)',
    'port = random.randint(0, 500)\nlaunch("tcp://localhost:" + str(port))',
    'port = random.randint(0, 500)\nlaunch("tcp://localhost:%d" % port)',
    "launch(port=random.randint(0, 500))",
    'args = argparse.Namespace()\nargs.dist_url = f"tcp://localhost:{random.randint(0, 500)}"',
]
OTHERS = [
    'os.environ["RUN"] = str(random.randint(10_000, 50_000))',
    'port = random.randint(10_000, 50_000)\nos.environ["MASTER_PORT"] = str(port)\nlaunch(port)',
    'port = random.randint(0, 500)\nlaunch(f"http://localhost:{port}")',
    "launch(random.randint(0, 500))",
    'launch(f"{random.randint(0, 500)}", url="tcp://localhost")',
]


@pytest.mark.parametrize(
    ("text", "state"), [*((text, "unused") for text in ADDRESSES), *((text, "unseeded") for text in OTHERS)]
)
def test_a_draw_for_a_port_decides_nothing(tmp_path: Path, text: str, state: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(text), encoding="utf-8")
    found = {}
    for command in (["entries"], []):
        arguments = [*command, "--no-cache", "--format", "json", str(tmp_path)]
        found[len(command)] = json.loads(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout)
    (entry,) = found[1]["entries"]
    assert entry["generators"]["python"]["state"] == state
    assert ("DET103" in [each["code"] for each in found[0]["findings"]]) == (state == "unseeded")
