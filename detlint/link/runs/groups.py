"""Groups of programs that share code: what is learned from one helps to follow the others of its group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from detlint.link.runs.starts import Imported, Start

_SHARED = 0.7  # the part of a program's files that its group has to share
_MOST = 8000  # files that the programs of a group load in total: a dozen seconds of work, which others can share


class Group:
    """The starts of programs that share code, and the files that these may load, as the bits of a number.

    `work` is the number of these files, summed up over the programs.
    """

    def __init__(self, files: int = 0) -> None:
        self.starts: list[Start] = []
        self.work = 0
        self._files = files

    def shared(self, files: int) -> int:
        """Return how many of these files the group may load."""
        return (self._files & files).bit_count()

    def likeness(self, files: int) -> float:
        """Return the likeness of these files and the group's own: the number of common files divided by that of all."""
        return self.shared(files) / (self._files | files).bit_count()

    def rest(self) -> Group:
        """Return an empty group for more programs that share this group's files."""
        return Group(self._files)

    def add(self, start: Start, files: int) -> None:
        """Add a program that may load these files."""
        self.starts.append(start)
        self.work += files.bit_count()
        self._files |= files


def grouped(starts: Iterable[Start], imports: Imported) -> list[Group]:
    """Return the starts of programs in groups that depend on `imports` alone, the files that each file loads.

    Starts in the same file are in the same group. A group with enough work gets no other files.
    """
    loaded, islands = _loaded(imports), _islands(imports)
    groups: list[Group] = []
    by_path: dict[str, Group] = {}
    by_island: dict[int, list[Group]] = defaultdict(list)
    for start in starts:
        files, near = loaded[start.path], by_island[islands[start.path]]
        group = by_path.get(start.path) or max(near, key=lambda group: group.likeness(files), default=None)
        if group is None or group.shared(files) < _SHARED * files.bit_count():
            group = Group()
            groups.append(group)
            near.append(group)
        elif group.work >= _MOST and start.path not in by_path:
            near.remove(group)
            group = group.rest()
            groups.append(group)
            near.append(group)
        group.add(start, files)
        by_path[start.path] = group
    return groups


def _loaded(imports: Imported) -> dict[str, int]:
    """Return the files that may be loaded if a program starts with a file, one bit each, by the path of that file."""
    found = {path: 1 << number for number, path in enumerate(imports)}
    order = list(imports)
    changed = True
    while changed:
        changed = False
        order.reverse()  # chains of imports in either direction take two rounds
        for path in order:
            before = every = found[path]
            for each in imports[path]:
                every |= found.get(each, 0)
            if every != before:
                found[path], changed = every, True
    return found


def _islands(imports: Imported) -> dict[str, int]:
    """Return a number for each file, the same one for files that imports connect in any direction."""
    numbers = {path: number for number, path in enumerate(imports)}
    joined = list(range(len(numbers)))

    def island(number: int) -> int:
        while joined[number] != number:
            joined[number] = joined[joined[number]]
            number = joined[number]
        return number

    for path, targets in imports.items():
        for target in targets & numbers.keys():
            joined[island(numbers[target])] = island(numbers[path])
    return {path: island(number) for path, number in numbers.items()}
