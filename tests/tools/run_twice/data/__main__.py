"""Make what a recipe names: python -m tests.tools.run_twice.data MODULE.FUNCTION ROOT."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    module, _, function = sys.argv[1].rpartition(".")
    getattr(import_module(f"tests.tools.run_twice.data.{module}"), function)(Path(sys.argv[2]))
