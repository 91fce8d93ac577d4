"""`detlint` and `python -m detlint`."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. `verify` does without libcst and the terminal library: a machine with a GPU may lack them."""
    if sys.argv[1:2] == ["verify"]:
        from detlint.commands import verify

        raise SystemExit(verify.main(sys.argv[2:]))
    from detlint import cli

    cli.main()


if __name__ == "__main__":
    main()
