"""`detlint` and `python -m detlint`."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. `verify` gets by with the standard library: a machine with a GPU may have no more."""
    if sys.argv[1:2] == ["verify"]:
        from detlint import verify_cli

        raise SystemExit(verify_cli.main(sys.argv[2:]))
    from detlint import cli

    cli.main()


if __name__ == "__main__":
    main()
