"""`detlint` and `python -m detlint`."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. `verify` and `bisect` do without libcst and the terminal library, which may be missing."""
    if sys.argv[1:2] == ["verify"]:
        from detlint.commands import verify

        raise SystemExit(verify.main(sys.argv[2:]))
    if sys.argv[1:2] == ["bisect"]:
        from detlint.commands import bisect

        raise SystemExit(bisect.main(sys.argv[2:]))
    from detlint import remembered

    status = remembered.say_again(sys.argv[1:])
    if status is not None:
        raise SystemExit(status)
    from detlint import cli

    cli.main(sys.argv[1:])


if __name__ == "__main__":
    main()
