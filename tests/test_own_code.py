"""detlint over its own code and tests: what it finds there is known, and why it stands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
KNOWN = {
    # Probes and measurements do what rules warn of, to see what comes of it.
    "detlint/verify/probes/attention.py": {"DET303"},
    "detlint/verify/probes/compiled.py": {"DET301", "DET501"},
    "detlint/verify/probes/controls.py": {"DET301"},
    "detlint/verify/probes/histograms.py": {"DET301"},
    "detlint/verify/probes/indexing.py": {"DET301"},
    "detlint/verify/probes/loading.py": {"DET104", "DET202", "DET205"},
    "detlint/verify/probes/lookups.py": {"DET302"},
    "detlint/verify/probes/losses.py": {"DET302"},
    "detlint/verify/probes/order.py": {"DET303"},
    "detlint/bisect/child.py": {"DET403", "DET503"},  # switches that whoever starts the run asks for
    "tests/tools/overhead.py": {"DET101", "DET303"},
    # Prefixes and names that are looked for one after the other, whichever comes first.
    "detlint/analysis/fields.py": {"DET601"},
    "detlint/analysis/sets.py": {"DET601"},
    "detlint/bisect/lines.py": {"DET601"},
    # Tests of programs that differ from run to run.
    "tests/bisect/server.py": {"DET105"},
    "tests/forks.py": {"DET105"},
    "tests/repeat/server.py": {"DET105"},
    "tests/test_gauntlet_ranks.py": {"DET702"},
    "tests/test_runtime.py": {"DET501", "DET503"},
}


def test_what_is_found_in_detlint_itself_is_known() -> None:
    command = [sys.executable, "-m", "detlint", "--no-cache", "--format", "json", "detlint", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    document = json.loads(done.stdout)
    assert (document["errors"], done.stderr) == ([], "")
    found = defaultdict(set)
    for finding in document["findings"]:
        found[finding["path"]].add(finding["code"])
    assert found == KNOWN
