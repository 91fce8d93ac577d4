"""Dicts that are made here and that nobody else has seen yet: what they hold is left in the heap once somebody may.

An environment has what each of them holds on its way, by the site of the dict. Of lists that are made empty it has
whether they have got an item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from detlint.domain.atoms import AllocationSite
from detlint.domain.slots import CONTENTS
from detlint.domain.values import NOTHING, Value
from detlint.interpreter.environments import OWN, Environment, Path

if TYPE_CHECKING:
    from detlint.interpreter.frames import Frame


def of_dict(key: Any) -> bool:
    """Whether a key of an environment is that of a dict which nobody else has seen."""
    return isinstance(key, tuple) and key[0] == OWN and isinstance(key[1], AllocationSite)


def begin(frame: Frame, site: AllocationSite, held: Value) -> None:
    """A dict is made; another one of its site, as a loop makes, others may have by now."""
    if frame.env is None:
        return
    settle(frame, site)
    frame.own_dicts[_key(site)] = None
    frame.env[_key(site)] = held


def contents(frame: Frame, site: AllocationSite) -> Value:
    """What a dict holds that nobody else has seen; nothing for any other."""
    return NOTHING if frame.env is None else frame.env.get(_key(site), NOTHING)


def holds(frame: Frame, site: AllocationSite, path: Path) -> bool:
    """Whether a path to entries is to those of a dict that nobody else has seen, and to no others."""
    return frame.env is not None and _key(site) in frame.env and frame.cells.get(path) == ((site, CONTENTS),)


def now(frame: Frame, site: AllocationSite, held: Value) -> None:
    """Let a dict that nobody else has seen hold something else."""
    assert frame.env is not None
    if frame.env[_key(site)].atoms:
        frame.env[_key(site)] = held


def wait(frame: Frame) -> None:
    """Something is nothing yet: whatever it will do to such dicts, or who will see them, is not known yet either."""
    for key in _held(frame, frame.env):
        frame.env[key] = NOTHING  # type: ignore[index]


def waits(frame: Frame, site: AllocationSite) -> bool:
    """Whether what a container holds that nobody else has seen is nothing yet."""
    return frame.env is not None and frame.env.get(_key(site)) == NOTHING


def settle(frame: Frame, site: AllocationSite) -> None:
    """Leave in the heap what a dict holds: others may see it from here on."""
    held = frame.env.pop(_key(site), None) if frame.env is not None else None
    if held is not None:
        frame.fill((site, CONTENTS), held)  # which does nothing where it is nothing yet


def settle_all(frame: Frame) -> None:
    """Leave in the heap what all such dicts hold."""
    for key in _held(frame, frame.env):
        settle(frame, key[1])


def settle_merged(frame: Frame, merged: Environment, ways: Sequence[Environment]) -> None:
    """Leave in the heap what others may see of such dicts on one of the ways that meet.

    What one of them holds may be another one, which then is settled as well.
    """
    waiting = _held(frame, merged)
    while seen := next((key for key in waiting if not all(key in way for way in ways)), None):
        waiting.remove(seen)
        frame.fill((seen[1], CONTENTS), merged.pop(seen))


def _held(frame: Frame, env: Environment | None) -> list[Path]:
    """The keys of such dicts in an environment."""
    return [key for key in frame.own_dicts if key in env] if frame.own_dicts and env else []


def _key(site: AllocationSite) -> Path:
    return (OWN, site)
