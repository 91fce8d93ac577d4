"""What holds for all tests."""

from __future__ import annotations

import os

os.environ["DETLINT_NO_CACHE"] = "1"  # of a run that is to have a cache, its test takes this away
