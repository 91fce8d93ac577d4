"""Texts without what differs between any two runs and is no result: durations, rates, dates, processes, addresses.

A mask is general, and takes a number by the unit or the word beside it. A number without either is compared.
"""

from __future__ import annotations

import re

_NUMBER = r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
_UNIT = r"(?-i:[nmuµμ]?s)|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|milliseconds?|microseconds?"
_BYTES = r"[KMGT]i?B|bytes"
_RATE = r"\w+/(?:s|secs?|seconds?)"
_TIMED = (
    rf"time|elapsed|took|duration|eta|seconds|secs|fps|speed|throughput|mfu|latency|(?:ms|s|secs?|seconds)/\w+|{_RATE}"
)
_OF = r"(?: ?[(\[][\w/]+[)\]]| (?:per|taken|spent|for) \w+)*"  # what stands between such a word and its number
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?"

# In this order: (pattern, what stands in place of it).
_MASKS = [
    (re.compile(pattern, re.IGNORECASE), place)
    for pattern, place in (
        # dates and times of day, and spans as clocks: 2024-05-01T10:11:12.345, May 1 10-11-12, 20240501_101112, 00:12
        (r"\b\d{4}[-/_]\d{2}[-/_]\d{2}(?:[-T_, ]+\d{2}[-:_.]?\d{2}[-:_.]?\d{2}(?:[.,]\d+)?)?", "<date>"),
        (r"(?<!\d)20\d{6}[-_T]?\d{4,6}(?!\d)", "<date>"),
        (rf"\b(?:{_DAY},? )?{_MONTH} ?\d{{1,2}}[ _](?:{_CLOCK}|\d{{2}}-\d{{2}}-\d{{2}})(?: \d{{4}})?", "<date>"),
        (rf"\b(?:\d+ days?, )?{_CLOCK}(?!\d)", "<time>"),
        (r"(?<![\d.])1[5-9]\d{8}(?:\.\d+)?(?!\d)", "<date>"),  # seconds since 1970, in the decades around this one
        # rates and durations by their unit: 12.3 it/s, 1,234 tokens/sec, 3 ms, 0.5s/batch
        (rf"(?<![\w.]){_NUMBER} ?(?:{_RATE}|(?:{_UNIT}|{_BYTES})/\w+)\b", "<rate>"),
        (r"(?<![\w.])(?:\d+ ?h ?)?\d+ ?m ?\d+(?:\.\d+)? ?s\b", "<time>"),
        (rf"(?<![\w.]){_NUMBER} ?(?:{_UNIT})\b", "<time>"),
        # numbers by the word before them: time: 12.3, ms/batch 5.12, took 3, mfu 1.2%, seconds = 4
        (rf"\b((?:{_TIMED})\b{_OF}[\"']?[ \t]*[:=]?[ \t]*){_NUMBER}(?:%|\b)", r"\1<time>"),
        # numbers of processes, addresses in memory
        (r"\b(pid[ :=]*|process[ :=]+)\d+\b", r"\1<process>"),
        (r"\b0x[0-9a-f]{6,}\b", "<address>"),
    )
]


def masked(text: str) -> str:
    """The text with masks in place of durations and the like, each line as a terminal shows it in the end.

    What a carriage return lets a program write over is gone: how often a bar of progress is renewed depends on time.
    """
    lines = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n"))
    return "\n".join(masked_line(line) for line in lines)


def masked_line(line: str) -> str:
    """One line, or a path, with masks in it."""
    for pattern, place in _MASKS:
        line = pattern.sub(place, line)
    return re.sub(r"[ \t]+", " ", line)  # a number that is narrower is padded by more blanks
