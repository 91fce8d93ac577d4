"""How commands fail: one line for people, and the origin of the error for those who ask.

`--debug` before a command, or the variable DETLINT_DEBUG, shows the traceback above each such line.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from detlint.support.printed import one_line

if TYPE_CHECKING:
    from click import ClickException, Context

FAILED = 2  # the exit status of a run that failed
_VARIABLE = "DETLINT_DEBUG"
_OPTION = "--debug"


def without_debug(arguments: list[str]) -> list[str]:
    """Return arguments without `--debug`, and record that it was given; after `bisect` it may be the program's own."""
    named = next((i for i, each in enumerate(arguments) if not each.startswith("-")), len(arguments))
    runs = arguments[named : named + 1] in (["bisect"], ["repeat"])
    end = named if runs else arguments.index("--") if "--" in arguments else len(arguments)
    found = [each for each in arguments[:end] if each != _OPTION]
    if len(found) < end:
        os.environ[_VARIABLE] = "1"  # for the processes of the run too
    return found + arguments[end:]


def complain(message: str, status: int = FAILED) -> int:
    """Print what is wrong on stderr, after the traceback of the handled error if asked for; return `status`."""
    if os.environ.get(_VARIABLE) and sys.exc_info()[0] is not None:
        import traceback

        traceback.print_exc()
    print(f"detlint: {one_line(message)}", file=sys.stderr)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:  # otherwise Python would complain again at exit, with a status of its own
        leave_pipe()
    return status


def refuse(error: ClickException) -> int:
    """Print what is wrong with a command line, and which help to read; return the exit status."""
    from click import BadParameter, NoSuchOption

    if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2 and later: print the help
        error.show()
        return FAILED
    said, context, param = error.format_message(), getattr(error, "ctx", None), getattr(error, "param", None)
    if isinstance(error, NoSuchOption):
        meant = sorted(error.possibilities or ())
        said = f"no such option {error.option_name}{f', did you mean {meant[0]}?' if meant else ''}"
    elif type(error) is BadParameter and param is not None and param.opts[0].startswith("-"):
        said = f"{param.opts[0]}: {error.message}"
    helps = "" if context is None else f"; `{_command(context)} --help` tells more"
    said = " ".join(said.split()).rstrip(".")
    return complain(f"{said[:1].lower()}{said[1:]}{helps}")


def _command(context: Context) -> str:
    """Return the command of a context as a user calls it."""
    above = () if context.parent is None else (_command(context.parent),)
    return " ".join((*above, "detlint" if not above else context.info_name or ""))


def reason(error: Exception) -> str:
    """Return what an error says, without the number that the system has for it."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error)


def defect(error: BaseException) -> int:
    """Report that detlint itself has failed, and return the exit status."""
    how = "" if os.environ.get(_VARIABLE) else "; `detlint --debug ...` shows where it came from"
    return complain(f"internal error, please report it with the command ({type(error).__name__}: {error}){how}")


def missing(error: ModuleNotFoundError) -> int:
    """Report which package that detlint needs is not installed; a missing module of detlint is an internal error."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "detlint"):
        return defect(error)
    return complain(f"this needs {package}, which is not installed for {sys.executable}; installing detlint brings it")


def leave_pipe() -> int:
    """Discard further output, since nobody reads it or it cannot be written; return the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return FAILED
