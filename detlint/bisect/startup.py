"""The folder that makes Python begin a record as it starts: `PYTHONPATH=$(python -m detlint.bisect.startup)`."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "starting"

if __name__ == "__main__":
    print(FOLDER)
