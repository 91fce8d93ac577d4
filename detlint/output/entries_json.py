"""The output of `detlint entries --format json`: the contract that other tools read."""

from __future__ import annotations

import json
from typing import Any

from detlint import __version__
from detlint.finding import Place
from detlint.programs.entries import Entry, Stream
from detlint.programs.events import CHANCE, Drawn, Seeded
from detlint.programs.met import Met
from detlint.report import Programs
from detlint.support.printed import in_json

_SWITCHES = {  # by key of the document, the name of the switch in a state
    "deterministic_algorithms": "algorithms",
    "cudnn_benchmark": "benchmark",
    "cudnn_deterministic": "cudnn",
    "cublas_workspace": "workspace",
}


def render(programs: Programs) -> str:
    """Return all entry points as one JSON document."""
    document = {
        "version": 1,
        "tool": {"name": "detlint", "version": __version__},
        "entries": [_entry(entry) for entry in programs.entries],
        "errors": list(programs.errors),
        "summary": {
            "files": programs.files,
            "entry_points": len(programs.entries),
            "seconds": round(programs.seconds, 3),
        },
    }
    return in_json(json.dumps(document, indent=2, ensure_ascii=False))


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "path": entry.path,
        "cell": entry.place.cell if entry.place else None,
        "line": entry.place.line if entry.place else 1,
        "kind": entry.kind,
        "function": entry.function or None,
        "started_by": None if entry.starter is None else _program(entry.starter),
        "generators": {stream.generator: _stream(stream) for stream in entry.streams},
        **{key: _switch(entry, name) for key, name in _SWITCHES.items()},
        "loaders": {
            "total": len(entry.loaders),
            "with_generator": sum(loader.generator for loader in entry.loaders),
            "with_worker_init": sum(loader.worker_init for loader in entry.loaders),
        },
    }


def _program(start: Place) -> dict[str, Any]:
    """Return `path`, `cell` and `line` of the entry point that starts a process."""
    return {"path": start.path, "cell": start.cell, "line": start.line}


def _stream(stream: Stream) -> dict[str, Any]:
    return {
        "state": "unused" if stream.state == "none" else stream.state,
        "seeds": [_seed(met) for met in {(met.event, met.option): met for met in stream.seeds}.values()],
        "first_draw": None if stream.first is None else _draw(stream.first),
        "seed_after_draw": None if stream.late is None else _seed(stream.late),
        "option": stream.optional.option or None if stream.optional and stream.state == "optional" else None,
    }


def _seed(met: Met[Seeded]) -> dict[str, Any]:
    return {**_start(met.event.place), "what": met.event.what, "option": met.option or None}


def _draw(met: Met[Drawn]) -> dict[str, Any]:
    return {**_start(met.event.place), "what": met.event.what, "unseeded": met.event.word in CHANCE}


def _switch(entry: Entry, name: str) -> dict[str, Any]:
    state, met = entry.switch(name)
    return {"state": state, "at": None if met is None else {**_start(met.event.place), "option": met.option or None}}


def _start(place: Place) -> dict[str, Any]:
    return {"path": place.path, "cell": place.cell, "line": place.line, "column": place.column}
