"""What runs inside a measured program: listings in an order of the run's own, and a record of what came of the run.

`tests.tools.run_twice.running` copies this package beside a `sitecustomize.py` that calls `install`, so the program is
started as its users start it. Only the standard library is imported before the program imports more, no generator that
the program could draw from is touched, and no module here may have a name that a program imports.

- `listings.py` shuffles what lists folders
- `imports.py` acts when torch and torchvision are imported
- `recording.py` keeps modules and optimizers, and writes their digests when the process ends
- `values.py` digests values: tensors and arrays to the bit, containers, other objects by what they hold
- `files.py` digests saved files by their contents; it runs in a process of its own after the program
- `masking.py` masks durations and dates in texts
"""

from __future__ import annotations

import os


def install() -> None:
    """Prepare this process: called by `sitecustomize` in each process of the program that starts afresh."""
    from . import imports, listings, recording

    if os.environ.get("RUN_TWICE_SHUFFLE"):
        listings.shuffle()
    imports.install(recording.keep if os.environ.get("RUN_TWICE_RECORD") else None)
    if os.environ.get("RUN_TWICE_RECORD"):
        recording.record_at_exit(os.environ["RUN_TWICE_RECORD"], os.environ["RUN_TWICE_ROOT"])
