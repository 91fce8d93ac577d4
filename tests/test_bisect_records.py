"""Traces as files: what is written is read, what is cut off is read up to there, what is damaged is told in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from detlint.bisect.options import Options
from detlint.bisect.records import Draw, End, Event, Flag, Input, Line, Op
from detlint.bisect.streams import META, Stream, Trace, TraceError, equal_prefix
from detlint.bisect.writer import CHAIN, Writer, given

PLACE = ("train.py", 7, "Net.forward", None)
CALLER = ("nb.ipynb", 2, "<module>", 3)
END = {"reason": "exit", "status": 0, "exception": "", "seen": {"thread": 1}, "unseen": ["this"]}
DESCRIPTION = {
    "version": 1,
    "argv": ["train.py"],
    "folder": "/here",
    "options": {"level": "op", "poison": 85},
    "environment": {"torch": "2"},
    "final": {},
    "start": {"torch": "00"},
    "digest": "test",
}


def write(path: Path, digests: list[str], end: bool = True) -> Stream:
    """A stream of one addition for each digest, the last of them drawn."""
    writer = Writer(path)
    for digest in digests:
        stack = writer.known_stack((1, 2)) or writer.stack((1, 2), [PLACE, CALLER])
        name, signature = writer.symbol("aten.add.Tensor"), writer.symbol("float32[2] -> float32[2]")
        inputs = [given(digest, writer.number - 1, 0), given("", -1, int(Flag.WRITE_ONLY))]
        writer.op(name, stack, 1, writer.symbol("AddBackward0"), inputs, [digest, "=0.5"], "alpha=1", signature, None)
    if end:
        writer.end(END)
    else:
        writer.flush()
    return Stream(path, "main")


def trace(folder: Path, **changes: object) -> Path:
    write(folder / "main.jsonl.gz", ["0" * 16])
    (folder / META).write_text(json.dumps({**DESCRIPTION, **changes}))
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "main.jsonl.gz")
    stack = writer.stack("key", [PLACE, CALLER])
    number = writer.event("seed", "torch", stack, ["0" * 16], {"value": "0", "function": "torch.manual_seed"})
    inputs = [given("a" * 16, number, int(Flag.LIST | Flag.UNINITIALISED), 0, 99)]
    name = writer.symbol("aten.rand.default")
    writer.op(name, stack, 0, 0, inputs, [""], "[3]", 0, (int(Draw.TAGGED), "b" * 16, ""))
    writer.end(END)
    lines = (Line("train.py", 7, "Net.forward"), Line("nb.ipynb", 2, "<module>", 3))
    assert list(Stream(tmp_path / "main.jsonl.gz", "main").records()) == [
        Event(0, "seed", "torch", lines, ("0" * 16,), {"value": "0", "function": "torch.manual_seed"}),
        Op(
            1,
            "aten.rand.default",
            lines,
            inputs=(Input("a" * 16, 0, Flag.LIST | Flag.UNINITIALISED, 0, 99),),
            outputs=("",),
            scalars="[3]",
            draw=Draw.TAGGED,
            state="b" * 16,
        ),
        End(2, "exit", 0, "", {"thread": 1}, ("this",)),
    ]
    assert str(lines[1]) == "nb.ipynb[3]:2"


def test_reading_can_begin_at_any_record(tmp_path: Path) -> None:
    digests = [f"{i:016x}" for i in range(3 * CHAIN)]
    stream = write(tmp_path / "main.jsonl.gz", digests)
    first = next(stream.records(start=2 * CHAIN + 5))
    assert isinstance(first, Op)
    assert (first.number, first.outputs[0], first.node) == (2 * CHAIN + 5, digests[2 * CHAIN + 5], "AddBackward0")
    assert first.inputs[0].producer == first.number - 1
    assert stream.end() == End(3 * CHAIN, "exit", 0, "", {"thread": 1}, ("this",))


def test_the_chain_of_digests_tells_streams_apart_from_the_first_difference_on(tmp_path: Path) -> None:
    digests = [f"{i:016x}" for i in range(3 * CHAIN)]
    one = write(tmp_path / "a.jsonl.gz", digests)
    digests[CHAIN + 7] = "f" * 16
    other = write(tmp_path / "b.jsonl.gz", digests)
    chains = [[line for line in stream.lines() if line.startswith(b'["c"')] for stream in (one, other)]
    assert [a == b for a, b in zip(*chains, strict=True)] == [True, False, False]
    assert equal_prefix(one, other) == (CHAIN + 7, False)
    assert equal_prefix(one, write(tmp_path / "c.jsonl.gz", [f"{i:016x}" for i in range(3 * CHAIN)])) == (
        3 * CHAIN,
        True,
    )


def test_an_operation_takes_less_than_forty_bytes_of_disk(tmp_path: Path) -> None:
    import random

    drawn = random.Random(0)
    stream = write(tmp_path / "main.jsonl.gz", [f"{drawn.getrandbits(64):016x}" for _ in range(4096)])
    assert stream.path.stat().st_size / 4096 < 40
    assert sum(map(len, stream.lines())) / 4096 < 200


def test_a_stream_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl.gz"
    stream = write(path, [f"{i:016x}" for i in range(3 * CHAIN)])
    whole = path.read_bytes()
    path.write_bytes(whole[: 2 * len(whole) // 3])
    records = list(stream.records())
    assert CHAIN < len(records) < 3 * CHAIN
    assert stream.end() is None
    assert all(isinstance(one, Op) for one in records)


def test_what_is_in_memory_is_written_within_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("detlint.bisect.writer.time.monotonic", lambda: now)
    writer = Writer(tmp_path / "main.jsonl.gz")
    writer.event("loss", "", 0, [], {})
    assert not list(Stream(tmp_path / "main.jsonl.gz", "main").records())
    now += 1.1
    writer.event("loss", "", 0, [], {})
    assert len(list(Stream(tmp_path / "main.jsonl.gz", "main").records())) == 2
    writer.end(END)


BROKEN = [
    ('["o",1]', "TypeError"),
    ('["o",99,0,0,0,[],[],"",0]', "IndexError"),
    ('["o",0,0,7,0,[],[],"",0]', "IndexError"),
    ('["o",0,0,0,0,[["not a digest"]],[],"",0]', "a digest is expected"),
    ('["o",0,0,0,0,[["","1"]],[],"",0]', "an input"),
    ('["o",0,0,0,0,[],["x"],"",0]', "a digest is expected"),
    ('["o",-1,0,0,0,[],[],"",0]', "a number is expected"),
    ('["e",0,0,0,[],{"a":[]}]', "an event's data"),
    ('["k",[5]]', "IndexError"),
    ('["s",5]', "a text is expected"),
    ('["l","a.py",true,"f",null]', "a number is expected"),
    ('["c",17,""]', "records are missing"),
    ('["q"]', "unknown kind"),
    ('{"o":1}', "not a list"),
    ("[[[[", "JSONDecodeError"),
    ('["z",0,{}]', "KeyError"),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN, ids=[line for line, _ in BROKEN])
def test_a_damaged_line_is_told_in_one_line(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "main.jsonl.gz"
    path.write_bytes(gzip.compress(f'["v",1]\n{line}\n'.encode()))
    with pytest.raises(TraceError) as caught:
        list(Stream(path, "main").records())
    told = str(caught.value)
    assert "\n" not in told
    assert "damaged at line 2" in told
    assert reason in told


def test_what_is_no_gzip_is_told_in_one_line(tmp_path: Path) -> None:
    stream = write(tmp_path / "main.jsonl.gz", ["0" * 16])
    data = bytearray(stream.path.read_bytes())
    data[30] ^= 0xFF
    stream.path.write_bytes(bytes(data))
    with pytest.raises(TraceError, match="cannot be decompressed"):
        list(stream.records())
    stream.path.write_bytes(b"nothing of the kind")
    with pytest.raises(TraceError, match="cannot be decompressed"):
        list(stream.records())


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 25)))
    with pytest.raises(TraceError, match="longer than"):
        list(Stream(path, "main").records())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 2}, "version 2"),
        ({"argv": 5}, "does not describe"),
        ({"environment": []}, "does not describe"),
        ({"options": {"a": []}}, "a text is expected"),
        ({"digest": None}, "a text is expected"),
    ],
)
def test_a_description_that_is_none_is_told_in_one_line(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    with pytest.raises(TraceError, match=reason):
        Trace(trace(tmp_path, **change))


def test_a_folder_that_is_no_trace_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no trace"):
        Trace(tmp_path / "missing")
    with pytest.raises(TraceError, match=r"meta\.json cannot be read"):
        Trace(tmp_path)


def test_the_streams_of_a_trace_are_in_natural_order_after_the_main_one(tmp_path: Path) -> None:
    trace(tmp_path)
    for name in ("loader0.worker10", "loader0.worker9", "thread0", "a name"):
        write(tmp_path / f"{name}.jsonl.gz", [])
    found = Trace(tmp_path)
    assert found.names == ("main", "loader0.worker9", "loader0.worker10", "thread0")
    assert found.meta.options == {"level": "op", "poison": 85}


def test_what_drives_a_terminal_is_taken_out_of_texts(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "main.jsonl.gz")
    writer.event("seed", "\x1b[2J", 0, [], {"value": "\x1b]0;x\x07"})
    writer.end(END)
    event = next(Stream(tmp_path / "main.jsonl.gz", "main").records())
    assert isinstance(event, Event)
    assert "\x1b" not in event.what + str(event.data["value"])


def test_options_survive_the_way_to_another_process() -> None:
    options = Options(max_ops=5, user=("a", "b c"), hash_seed="0", listing="reversed", seed_torch=1)
    assert Options.load(options.dump()) == options
    assert options.plain() == {"max_ops": 5, "user": "a b c", "hash_seed": "0", "listing": "reversed", "seed_torch": 1}
