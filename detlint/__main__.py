"""`detlint` and `python -m detlint`."""

# Nothing is imported up here but what every Python has built in, or has loaded when it begins, not even `__future__`:
# `python -m` puts the working folder first on the path, and a stranger's files may lie there.
import atexit
import gc
import os
import sys

_NEW = 20_000  # objects after which Python looks for dead cycles: a small run is over before


def main() -> None:
    """The console script. `verify` and `bisect` do without libcst, and all do without rich."""
    _leave_working_folder()
    try:
        _run()
    except ModuleNotFoundError as error:
        from detlint.commands import failing

        raise SystemExit(failing.missing(error)) from None


def _run() -> None:
    atexit.register(gc.freeze)  # no dead cycles are looked for among all that is there in the end
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
    """Take the working folder off the path, unless detlint itself is there: what lies in it is read, never imported."""
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:  # it has been removed
        here = ""
    if here != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):  # noqa: PTH100, PTH120
        sys.path[:] = [path for path in sys.path if path not in ("", ".", here)]


if __name__ == "__main__":
    main()
