"""The entry point of `detlint` and `python -m detlint`."""

# Import nothing here but modules that are built in or already loaded at startup, not even `__future__`:
# `python -m` puts the working folder first on the path, and a stranger's files may lie there.
import atexit
import gc
import os
import sys

_NEW = 20_000  # objects allocated before Python looks for dead cycles: a small run ends earlier


def main() -> None:
    """Run the console script. `verify` and `bisect` work without libcst, and all commands work without rich."""
    _leave_working_folder()
    try:
        _run()
    except ModuleNotFoundError as error:
        from detlint.commands import failing

        raise SystemExit(failing.missing(error)) from None


def _run() -> None:
    atexit.register(gc.freeze)  # so that Python does not search all remaining objects for dead cycles at exit
    if sys.argv[1:2] == ["--debug"]:
        os.environ["DETLINT_DEBUG"] = "1"
        del sys.argv[1]
    gc.set_threshold(_NEW)
    from detlint.cache import remembered

    status = remembered.say_again(sys.argv[1:])
    if status is not None:
        raise SystemExit(status)
    from detlint import cli

    cli.main(sys.argv[1:])


def _leave_working_folder() -> None:
    """Take the working folder off the path, unless detlint itself is there: its files are read, never imported."""
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:  # it has been removed
        here = ""
    if here != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):  # noqa: PTH100, PTH120
        sys.path[:] = [path for path in sys.path if path not in ("", ".", here)]


if __name__ == "__main__":
    main()
