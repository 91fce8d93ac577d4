"""What `--fix` leaves in each program, in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from detlint.standing import Standing

_MOST = 20  # programs that get a line each


def lines(found: Iterable[Standing]) -> Iterator[str]:
    """Yield a line on each program that was changed or has something left, and one that counts the others."""
    told = [each for each in found if each.changed or each.left]
    for each in told[:_MOST]:
        yield f"{each.path}: {_line(each)}"
    rest = told[_MOST:]
    if rest:
        open_ = sum(bool(each.left) for each in rest)
        yield f"and {len(rest)} more programs: {len(rest) - open_} repeat now, as far as detlint sees, {open_} do not"


def _line(standing: Standing) -> str:
    if not standing.left:
        return "repeats now, as far as detlint sees"
    codes = ", ".join(f"{code} ({count})" if count > 1 else code for code, count in sorted(standing.left.items()))
    rest = sum(standing.left.values()) - standing.unsafe
    ways = [f"`--unsafe-fixes` mends {standing.unsafe if rest else 'all' if standing.unsafe > 1 else 'it'}"]
    ways = ways if standing.unsafe else []
    ways += [f"by hand: {title[:1].lower()}{title[1:]}" for title in standing.by_hand]
    if rest > standing.by_hand.total() and standing.path.endswith(".py"):
        ways.append(f"`detlint bisect -- python {standing.path}` shows where two runs part")
    return f"left: {codes}" + (f"; {', '.join(ways)}" if ways else "")
