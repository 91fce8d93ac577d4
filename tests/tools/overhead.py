"""What recording costs: time, memory and bytes, on a small CNN and a small transformer.

`python -m tests.tools.overhead` prints a table. Plain and recorded steps are timed in one process, in turns, with one
thread, by the processor's time, which other programs on the machine do not lengthen. `--level step` records losses and
parameters alone. `--digests` shows what digests of tensors cost beside those of the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from detlint.bisect.options import Options
from detlint.bisect.recorded import digests, inside, installing
from detlint.bisect.recorded.session import Session
from detlint.bisect.streams import Trace

_HEADER = f"{'model':12} {'plain ms':>9} {'recorded':>9} {'ratio':>6} {'records':>8} {'B/record':>9} {'on disk':>8} {'MiB':>6}"


def mlp() -> Callable[[], torch.Tensor]:
    """A step so short that nothing but the cost of a record counts."""
    net, x = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)), torch.randn(8, 16)
    return _step(net, lambda: net(x).pow(2).mean())


def cnn() -> Callable[[], torch.Tensor]:
    """Three convolutions on 32 images of 32 by 32."""
    net = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Conv2d(32, 64, 3, padding=1, stride=2), nn.BatchNorm2d(64), nn.ReLU()),
        *(nn.Conv2d(64, 64, 3, padding=1, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        nn.Linear(64, 10),
    )
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    return _step(net, lambda: nn.functional.cross_entropy(net(x), y))


def transformer() -> Callable[[], torch.Tensor]:
    """Four layers of width 256 on 8 texts of 64 words."""
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    net = nn.Sequential(nn.Embedding(1000, 256), encoder, nn.Linear(256, 1000))
    x, y = torch.randint(0, 1000, (8, 64)), torch.randint(0, 1000, (8 * 64,))
    return _step(net, lambda: nn.functional.cross_entropy(net(x).view(-1, 1000), y))


MODELS = {"mlp": (mlp, 300), "cnn": (cnn, 20), "transformer": (transformer, 10)}  # with how many steps are timed


@dataclass(frozen=True)
class Cost:
    """What recording costs: milliseconds of the fastest step without and with it, records of a step, bytes of one, MiB of memory."""

    model: str
    plain: float
    recorded: float
    records: float
    size: float
    disk: float
    memory: float

    def __str__(self) -> str:
        """A line of the table."""
        ratio = self.recorded / self.plain
        return (
            f"{self.model:12} {self.plain:9.2f} {self.recorded:9.2f} {ratio:6.2f} "
            f"{self.records:8.0f} {self.size:9.0f} {self.disk:8.0f} {self.memory:6.0f}"
        )


def _step(net: nn.Module, loss: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        found = loss()
        found.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return found

    return step


def measure(name: str, level: str = "op") -> Cost:
    """The cost for a model: recording cannot be undone in a process, so each model has one of its own."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    build, steps = MODELS[name]
    step = build()
    plain, recorded = [], []
    with tempfile.TemporaryDirectory() as folder:
        times(step, 3)
        plain += times(step, steps)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        held = Session(Path(folder), Options(level=level))
        installing.install(held)
        times(step, 3)
        begun = _records(held)
        recorded += times(step, steps)
        count = (_records(held) - begun) / steps
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        held.recording = False  # back to plain steps, to see that the machine has not changed meanwhile
        held.finish()
        stream = Trace(Path(folder)).stream("main")
        total = sum(line.startswith((b'["o"', b'["e"')) for line in stream.lines())
        size = sum(map(len, stream.lines())) / total
        disk = stream.path.stat().st_size / total
    one, other = min(plain) * 1000, min(recorded) * 1000  # what else the machine does can only add to a step
    return Cost(name, one, other, count, size, disk, more)


def _records(held: Session) -> int:
    track = held.track()
    assert track is not None
    return track.writer.number


def times(step: Callable[[], torch.Tensor], count: int) -> list[float]:
    """Seconds of the processor for each of some steps."""
    found = []
    for _ in range(count):
        start = time.process_time()
        step()
        found.append(time.process_time() - start)
    return found


def compare_digests() -> None:
    """Microseconds for the digest of float32 tensors, and for what the standard library has."""
    print(f"{'elements':>9} {'ours':>9} {'blake2b':>9} {'sha1':>9} {'crc32':>9}")
    import zlib

    torch.set_num_threads(1)
    for size in (64, 1 << 10, 1 << 12, 1 << 16, 1 << 20, 1 << 24):
        tensor = torch.randn(size)
        data = tensor.numpy().tobytes()
        ways: tuple[Callable[[], object], ...] = (
            lambda tensor=tensor: digests.of_tensor(tensor),  # type: ignore[misc]
            lambda data=data: hashlib.blake2b(data, digest_size=8).digest(),  # type: ignore[misc]
            lambda data=data: hashlib.sha1(data).digest(),  # type: ignore[misc]
            lambda data=data: zlib.crc32(data),  # type: ignore[misc]
        )
        print(f"{size:9} " + " ".join(f"{_fastest(way, size):9.1f}" for way in ways))


def _fastest(way: Callable[[], object], size: int) -> float:
    best = float("inf")
    for _ in range(5):
        repeats = max(1, min(1000, (1 << 22) // size))
        start = time.process_time()
        for _ in range(repeats):
            way()
        best = min(best, (time.process_time() - start) / repeats)
    return best * 1e6


def main() -> None:
    """Print the table, or that of digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digests", action="store_true", help="compare digests instead")
    parser.add_argument("--level", choices=inside.LEVELS, default="op", help="what is recorded [op]")
    parser.add_argument("--model", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.digests:
        compare_digests()
    elif options.model:
        print(measure(options.model, options.level))
    else:
        import subprocess

        print(_HEADER)
        for name in MODELS:
            command = [sys.executable, "-m", "tests.tools.overhead", "--model", name, "--level", options.level]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
