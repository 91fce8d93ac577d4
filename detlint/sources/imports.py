"""Resolution of imports: which file an import loads, derived from the paths of the analysed files alone."""

from __future__ import annotations

import posixpath
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

_STANDARD = frozenset(sys.stdlib_module_names)
_MOST_ANSWERS = 10_000  # about 2 MB
_LAYOUTS = ("src", "python")  # folders that hold a project's packages next to its tests and scripts


class Imports:
    """The files of a run, and which of them an import in one of them loads.

    If the search path is not known, it is guessed as type checkers do: the folder around the importer's top-level
    package, then the folders above the importer that are no packages. A module directly within a package is found by
    its bare name only if a script lies there or an edit of `sys.path` names the folder.
    """

    def __init__(self, files: Iterable[str]) -> None:
        """Index `files`, POSIX paths, relative or absolute; an import never loads a file that does not end in `.py`."""
        given = {_normal(path): path for path in files}
        self._files = {path: original for path, original in given.items() if path.endswith(".py")}
        self.paths = frozenset(self._files.values())
        self._folders = {folder for path in self._files for folder in _above(path)}
        self._components = {part for path in self._files for part in path.removesuffix(".py").split("/")}
        self._root = _common([path for path in self._files if path.startswith("/")])
        self._ends: dict[str, list[str]] = defaultdict(list)
        for place in (*self._files, *(folder for folder in self._folders if not self._is_package(folder))):
            if place.startswith("/"):  # folders above the root are not part of the project
                parts = _parts(place.removeprefix(self._root)) if place.startswith(self._root) else []
            else:
                parts = _parts(place)
            for start in range(len(parts) - 1):
                self._ends[".".join(parts[start:])].append(place)
        self._names = Counter(name for path in given for name in self._candidates(path))
        self._local = self._top_level()
        self._paths: dict[tuple[str, str | None, tuple[str, ...]], tuple[str, ...]] = {}
        self._answers: dict[tuple[str | None, ...], str] = {}
        self._relatives: dict[tuple[str, int, str], str | None] = {}
        self._places: dict[tuple[str, tuple[str, ...], str, str], str] = {}

    def name(self, path: str) -> str:
        """Return the dotted name of a file from its top-level package on; longer if another file has the same name."""
        candidates = self._candidates(_normal(path))
        return next((name for name in candidates if self._names[name] <= 1), candidates[-1])

    def find(self, target: str, importer: str, script: str | None = None, extra: Sequence[str] = ()) -> str | None:
        """Return the file that `import target` loads in the file `importer`, or None if it is not among the files.

        `target` is the absolute dotted name of a module, `script` the file that the program was started with, `extra`
        the folders that the program adds to `sys.path`.
        """
        return self._files.get(self._place(target, importer, script, extra))

    def is_namespace(self, target: str, importer: str, script: str | None = None, extra: Sequence[str] = ()) -> bool:
        """Return whether `import target` loads a namespace package: a folder of modules without an `__init__.py`."""
        place = self._place(target, importer, script, extra)
        return bool(place) and place in self._folders

    def relative(self, importer: str, level: int, module: str) -> str | None:
        """Return the file that `from <level dots><module> import ...` loads in the file `importer`, or None.

        If `module` is empty, return the `__init__.py` of the package that the dots name.
        """
        if (importer, level, module) not in self._relatives:
            self._relatives[importer, level, module] = self._relative(importer, level, module)
        return self._relatives[importer, level, module]

    def _relative(self, importer: str, level: int, module: str) -> str | None:
        folders = list(_above(_normal(importer)))
        if not 1 <= level <= len(folders):
            return None
        folder = folders[level - 1]
        if not module:
            return self._files.get(posixpath.join(folder, "__init__.py"))
        return self._files.get(self._walk(folder, module.split("."))[0])

    def forget_programs(self) -> None:
        """Clear the cached answers if there are more than 10,000; they are quick to find again."""
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.clear()

    def local_root(self, target: str) -> bool:
        """Return whether the first component of `target` is a top-level module or package of the project."""
        return target.partition(".")[0] in self._local

    def _place(self, target: str, importer: str, script: str | None, extra: Sequence[str]) -> str:
        """Return the file that `target` loads, the folder if it is a namespace package, or "" if neither is found."""
        if target.partition(".")[0] not in self._components:  # true of nearly all imports of libraries
            return ""
        asked = (target, importer, script, *extra)
        if asked not in self._answers:
            self._answers[asked] = self._found(target, importer, script, extra)
        return self._answers[asked]

    def _found(self, target: str, importer: str, script: str | None, extra: Sequence[str]) -> str:
        importer, folder, name = _split(importer)
        first = target.partition(".")[0]
        standard = first in _STANDARD
        if standard:
            path = self._before_standard(importer, script, first)
        else:
            path = self._search_path(folder, script, tuple(extra))
        itself = importer if name == f"{first}.py" else ""
        key = (target, path, folder, itself)
        if key not in self._places:
            place = self._on(path, target.split("."), itself)
            if standard:
                place = place if place in self._files else ""
            elif not place:
                place = self._guess(target, importer, path)
            self._places[key] = place
        return self._places[key]

    def _search_path(self, folder: str, script: str | None, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Return the folders in which a file of `folder` looks for top-level modules, first to last."""
        key = (folder, script, extra)
        if key not in self._paths:
            start = folder if script is None else posixpath.dirname(_normal(script))
            way = self._way(folder)
            found = [start] if script is not None else []
            for each in map(_normal, extra):
                outside = each.startswith("..") and each not in self._folders
                found.append(_normal(posixpath.join(start, each)) if outside else each)
            found.append(self._holder(folder))
            found += [each for each in way if not self._is_package(each)]
            layouts = [posixpath.join(each, name) for each in way for name in _LAYOUTS]
            found += [each for each in layouts if not self._is_package(each)]
            self._paths[key] = tuple(dict.fromkeys(each for each in found if each in self._folders))
        return self._paths[key]

    def _before_standard(self, importer: str, script: str | None, first: str) -> tuple[str, ...]:
        """Return the folders that precede the standard library: the script's, and that of a package named `first`."""
        _, folder, _ = _split(importer)
        holder = self._holder(folder)
        inside = [holder] if importer.startswith(posixpath.join(holder, first) + "/") else []
        if script is not None:
            return (_split(script)[1], *inside)
        alone = not self._is_package(folder)
        return (folder, *inside) if alone else tuple(inside)

    def _on(self, path: tuple[str, ...], parts: Sequence[str], itself: str) -> str:
        """Return the first file that `parts` name on a search path, else the first namespace package, else "".

        A folder is passed over whose module of the first name is no package: a program whose imports work was started
        elsewhere, as by `python -m package` where `package/package.py` exists.
        """
        space = ""
        for folder in path:
            place, settled = self._walk(folder, parts, itself)
            if place in self._files:
                return place
            space = space or place
            if settled and (place or self._is_package(posixpath.join(folder, parts[0]))):
                break
        return space

    def _walk(self, folder: str, parts: Sequence[str], itself: str = "") -> tuple[str, bool]:
        """Return what `parts` name in a folder (a file, a folder or ""), and whether the search ends at this folder.

        The search ends here if the first part is a module or a regular package: Python then looks in no other folder.
        """
        settled = False
        place = folder
        for index, part in enumerate(parts):
            place = posixpath.join(place, part)
            last = index == len(parts) - 1
            module = f"{place}.py"
            if f"{place}/__init__.py" in self._files:
                settled = settled or index == 0
                if last:
                    return f"{place}/__init__.py", settled
            elif module in self._files and not (index == 0 and module == itself):
                return (module if last else ""), settled or index == 0
            elif place not in self._folders:
                return "", settled
        return place, settled

    def _guess(self, target: str, importer: str, path: tuple[str, ...]) -> str:
        """Return what a target of two parts or more names outside of the search path, or "".

        Look in the packages around the importer first, then for a path in the project that alone ends in these parts.
        """
        parts = target.split(".")
        if len(parts) < 2 or any(self._walk(folder, parts[:1])[1] for folder in path):
            return ""
        place = self._on(tuple(self._way(posixpath.dirname(importer))), parts, "")
        if place in self._files:
            return place
        found = self._ends.get(target, [])
        found = [each for each in found if each in self._files] or found
        return found[0] if len(found) == 1 else ""

    def _is_package(self, folder: str) -> bool:
        return posixpath.basename(folder) not in ("", "..") and f"{folder}/__init__.py" in self._files

    def _holder(self, folder: str) -> str:
        """Return the nearest folder, from `folder` up, that is no regular package."""
        return next(each for each in (folder, *_above(folder)) if not self._is_package(each))

    def _way(self, folder: str) -> list[str]:
        """Return `folder` and the folders above it, up to the root of the files."""
        found = []
        for each in dict.fromkeys((folder, *_above(folder))):
            found.append(each)
            if each == self._root:
                break
        return found

    def _candidates(self, path: str) -> list[str]:
        """Return the possible names of a file: from its top-level package on, then from each folder above that."""
        parts = _parts(path) or ["__init__"]
        holder = self._holder(posixpath.dirname(path))
        shortest = min(len(parts), max(1, len(parts) - len(_parts(holder))))
        return [".".join(parts[-length:]) for length in range(shortest, len(parts) + 1)]

    def _top_level(self) -> frozenset[str]:
        """Return the top-level names of all search paths; folders without `__init__.py` count only at the roots."""
        found = set()
        for path in self._files:
            folder = posixpath.dirname(path)
            holder = self._holder(folder)
            name = posixpath.relpath(path, holder or ".").partition("/")[0].removesuffix(".py")
            if folder != holder or name not in _STANDARD:
                found.add(name)
        roots = {"", self._root}
        roots |= {posixpath.join(root, name) for root in roots for name in _LAYOUTS}
        for folder in self._folders - {""}:
            if posixpath.dirname(folder) in roots and posixpath.basename(folder) not in _STANDARD:
                found.add(posixpath.basename(folder))
        return frozenset(found - {"__init__", ""})


def _normal(path: str) -> str:
    normal = posixpath.normpath(path)
    return "" if normal == "." else normal


@cache
def _split(path: str) -> tuple[str, str, str]:
    """Return the normalised path, its folder, and its name in the folder."""
    normal = _normal(path)
    return normal, *posixpath.split(normal)


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a path, nearest first, as far as the path names them."""
    while path not in ("", "/") and posixpath.basename(path) != "..":
        path = posixpath.dirname(path)
        yield path


def _parts(place: str) -> list[str]:
    """Return the components of a file's or folder's path as those of a dotted name."""
    stem, _ = posixpath.splitext(place) if place.endswith((".py", ".ipynb")) else (place, "")
    parts = [part for part in stem.split("/") if part not in ("", "..")]
    return parts[:-1] if parts[-1:] == ["__init__"] else parts


def _common(paths: Sequence[str]) -> str:
    """Return the folder that holds all of some absolute paths; "" if there are no paths."""
    return posixpath.commonpath([posixpath.dirname(path) for path in paths]) if paths else ""
