"""Reading a text into `syntax`: by Python's own parser, many times faster, or by libcst for texts that it cannot read.

libcst reads the grammar of every Python version, whichever one runs it. It is imported only for a text that the running
Python refuses: one in newer or older syntax, or a broken one. Both ways give the same nodes, scopes and spans.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from typing import Protocol

from detlint.reading.ast_places import Places
from detlint.reading.ast_spans import AstSpans
from detlint.reading.ast_strings import UnclearError
from detlint.reading.ast_tree import lower
from detlint.reading.lowering import NotPythonError as NotPythonError
from detlint.reading.lowering import TooDeepError
from detlint.support.records import record
from detlint.tree import syntax as s

_NOT_ASCII_WORD = re.compile(r"(?<!\w)\w*[^\W\x00-\x7f]\w*")


class Spans(Protocol):
    """The spans of the nodes of a file in its text."""

    def of(self, node: s.Node) -> tuple[int, int]:
        """Return the start and end of a node, in characters, without its own parentheses and surrounding space."""
        ...


@record(frozen=True)
class Reading:
    """A text that was read: its syntax, and the spans of its nodes."""

    file: s.File
    spans: Spans


def read(text: str, package: str = "") -> Reading:
    """Return the syntax of a file and its spans. `package` is the dotted package that relative imports start from.

    Raises NotPythonError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are the program's own business
        module = _parsed(text)
        places = Places(text)
        try:
            if module is not None:
                return Reading(lower(module, places, package), AstSpans(places))
        except UnclearError:
            pass
        return _read_by_libcst(text, package)


def check(text: str) -> None:
    """Raise NotPythonError where `read` would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = _parsed(text)
    if module is None:
        from detlint.reading import cst_tree

        cst_tree.parse(text)


def _parsed(text: str) -> ast.Module | None:
    """Return the running Python's tree of a text; None if it cannot read it, or would normalise names in it."""
    if not text.isascii() and _has_names_to_normalise(text):
        return None
    try:
        return ast.parse(text)
    except (RecursionError, MemoryError):  # libcst overflows its stack where Python raises these
        raise TooDeepError from None
    except (SyntaxError, ValueError):
        return None


def _has_names_to_normalise(text: str) -> bool:
    """Return whether the text may hold names that Python normalises by NFKC, so that they differ from the text."""
    if unicodedata.is_normalized("NFKC", text):
        return False
    return not all(unicodedata.is_normalized("NFKC", word) for word in _NOT_ASCII_WORD.findall(text))


def _read_by_libcst(text: str, package: str) -> Reading:
    from detlint.reading import cst_tree
    from detlint.reading.cst_spans import TreeSpans

    module = cst_tree.parse(text)
    return Reading(cst_tree.lower(module, package), TreeSpans(module, text))
