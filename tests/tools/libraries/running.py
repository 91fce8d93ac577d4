"""Programs run twice in fresh processes, in the environment of a release."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.libraries.claims import DIFFERS, FAILED, REPEATS, WAYS, Way, claims
from tests.tools.libraries.programs import Program

TORCH = "torch==2.13.0"  # with NumPy, shared by all environments: each may seed both
CHILD = Path(__file__).parent / "child.py"
_TIMEOUT = 900.0
_ORDER: tuple[Way, ...] = ("nothing", "all", "random", "numpy", "torch", "given")

Outcomes = dict[str, dict[str, str]]


def environment(folder: Path, release: str) -> Path:
    """The interpreter of an environment with a release, made where there is none."""
    shared = _made(folder / "torch", (TORCH, "numpy"))
    place = folder / re.sub(r"[^\w.=-]+", "_", release)
    beside = _packages(shared)
    return _made(place, release.split(), beside)


def measure(python: Path, programs: Sequence[Program]) -> tuple[Outcomes, Mapping[str, str]]:
    """What two runs of each program did by way of seeding, and the errors of those that fail.

    All programs of a release share two processes a way. What speaks against a row is run again in processes of its own.
    Seeds of torch are left out where the programs do not load it.
    """
    runs = Runs(python)
    found: Outcomes = {program.name: {} for program in programs}
    for way in _ORDER:
        asked = [program for program in programs if runs.torch or way != "torch"]
        asked = [program for program in asked if _open(program, found[program.name], way)]
        for name, outcome in runs.twice(asked, way).items():
            found[name][way] = outcome
        for program in asked:
            outcome, told = found[program.name][way], claims(program).get(way)
            if told and outcome not in (FAILED, told) and not program.outside:
                found[program.name][way] = runs.twice([program], way)[program.name]
    for outcomes in found.values():
        for way in WAYS:
            if way != "given" and way not in outcomes:
                same = "all" if outcomes.get("all") == DIFFERS else "nothing"  # else nothing varies, or it is torch
                outcomes[way] = outcomes[same]
    return {name: _in_order(outcomes) for name, outcomes in found.items()}, runs.errors


def _in_order(outcomes: Mapping[str, str]) -> dict[str, str]:
    return {way: outcomes[way] for way in WAYS if way in outcomes}


def _open(program: Program, found: Mapping[str, str], way: Way) -> bool:
    """Whether it is still to be seen what a way of seeding does: none if nothing varies, or all seeds do not help."""
    if way == "given":
        return program.seeded and found["nothing"] != FAILED
    return way == "nothing" or (found["nothing"] == DIFFERS and found.get("all") != DIFFERS)


class Runs:
    """Runs of programs in one environment: their errors, and whether they have loaded torch."""

    def __init__(self, python: Path) -> None:
        self.python = python
        self.errors: dict[str, str] = {}
        self.torch = False

    def twice(self, programs: Sequence[Program], way: Way) -> dict[str, str]:
        """What two runs of each program did."""
        first = self._once(programs, way)
        second = self._once([program for program in programs if first.get(program.name)], way)
        outcomes = {}
        for program in programs:
            digests = first.get(program.name), second.get(program.name)
            outcomes[program.name] = FAILED if not all(digests) else REPEATS if digests[0] == digests[1] else DIFFERS
        return outcomes

    def _once(self, programs: Sequence[Program], way: Way) -> dict[str, str]:
        """The digests of programs in one process, or in another after each that ends it."""
        found: dict[str, str] = {}
        left = list(programs)
        seeded = [generator for generator in WAYS[way] if generator != "torch" or self.torch]
        while left:
            with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                source, target = Path(folder, "programs.json"), Path(folder, "results.jsonl")
                source.write_text(json.dumps({"seeded": seeded, "programs": [*_asked(left, way)]}), encoding="utf-8")
                target.touch()
                told = _run([str(self.python), str(CHILD), str(source), str(target)], folder)
                lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
            for name, digest, error, torch in lines:
                found[name] = digest
                self.torch |= torch
                if error:
                    self.errors[name] = error
            left = left[len(lines) :]
            if left:
                self.errors[left[0].name] = told or "no result"
                left = left[1:]
        return found


def _asked(programs: Iterable[Program], way: Way) -> Iterable[tuple[str, str, dict[str, int]]]:
    for program in programs:
        yield program.name, program.text, {program.parameter: 0} if way == "given" else {}


def _run(command: Sequence[str], folder: str) -> str:
    """What ended a process."""
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONHASHSEED", "PYTHONPATH")}
    environ |= {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "MPLBACKEND": "Agg"}
    environ |= {"NO_ALBUMENTATIONS_UPDATE": "1", "OMP_WAIT_POLICY": "passive"}  # which changes no result
    try:
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return "takes too long"
    return f"exit status {done.returncode}"


def _made(place: Path, packages: Sequence[str], beside: str = "") -> Path:
    python = place / "bin" / "python"
    done = place / "installed.txt"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", str(place)], check=True)
        if beside:
            Path(_packages(python), "beside.pth").write_text(f"{beside}\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*pip, *packages], check=True)
        done.write_text("\n".join(packages), encoding="utf-8")
    return python


def _packages(python: Path) -> str:
    told = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip()
