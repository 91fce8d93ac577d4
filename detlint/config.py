"""Settings: `[tool.detlint]` of pyproject.toml or detlint.toml, and the torch version a project targets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from detlint import registering, releases
from detlint.catalogue import DEFAULT, PROMISES, Catalogue, load, nearest
from detlint.finding import Severity
from detlint.registered import with_releases
from detlint.support import toml
from detlint.support.records import record

KNOWN = (
    *"""select extend-select ignore exclude respect-gitignore per-file-ignores severity breaks torch-version runtime
    baseline cache-dir""".split(),
    *registering.KEYS,
)
RUNTIMES = ("auto", "vendor", "import", "inline")
# where a project's requirements are, the most binding file first
REQUIREMENTS = (
    "requirements.txt",
    *(f"requirements/{name}.txt" for name in ("requirements", "base", "runtime", "install", "main")),
)
NO_CACHE = "DETLINT_NO_CACHE"  # the variable that, if set, keeps every run from using a cache
_CACHE = ".detlint_cache"
_TABLE = '{ "tests/*" = ["DET1"] }'
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", ".git")


class ConfigError(Exception):
    """A setting is wrong; the message says which, and what to do."""


@record(frozen=True)
class Config:
    """The settings of a run.

    `respect_gitignore` says whether what git ignores is left out. `severity` is the lowest severity that is shown,
    `runtime` how fixes import their functions. `noqa` says whether comments `# noqa` suppress what they cover,
    `comments` whether any comment does. `context` are files and folders that are read in addition to those whose
    findings are shown. `baseline` is the file of findings that are not shown. `registered` is what the project says of
    libraries, as the catalogue takes it: what functions do, and the releases that it requires. `cache_dir` is the
    folder of the cache; None for a run without one.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Severity = Severity.NOTE
    breaks: tuple[str, ...] = ()
    torch_version: str = ""
    runtime: str = "auto"
    noqa: bool = True
    comments: bool = True
    context: tuple[Path, ...] = ()
    baseline: Path | None = None
    registered: str = ""
    root: Path = field(default_factory=Path)
    cache_dir: Path | None = None


def for_paths(paths: Sequence[Path]) -> Config:
    """Return the settings of the project that the first path belongs to. Raises ConfigError for a missing path."""
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path} does not exist; give files or folders that do")
    return of_path(paths[0])


def of_run(paths: Sequence[Path], file: Path | None = None, isolated: bool = False) -> Config:
    """Return the settings of a run over `paths`; a folder among them may have a cache even without a project.

    They are those in `file` if one is given, and the defaults if the run is `isolated`. Raises ConfigError as
    `for_paths` does, if `file` has no settings, and if both are asked for.
    """
    if file is not None and isolated:
        raise ConfigError("--isolated reads no settings: not with --config")
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path} does not exist; give files or folders that do")
    config = of_path(paths[0], file, isolated)
    if config.cache_dir is None and paths[0].is_dir() and not os.environ.get(NO_CACHE):
        return replace(config, cache_dir=config.root / _CACHE)
    return config


def of_path(path: Path, file: Path | None = None, isolated: bool = False) -> Config:
    """Return the settings of the project that a path belongs to, whether or not the path exists.

    Those in `file` replace those of the project; with `isolated` no settings file is read.
    """
    found = None if isolated else find(path)
    if file is not None:
        root = project_root(path) if found is None else found[0].parent
        config = from_table(file, settings_in(file), root)
    elif found is not None:
        config = from_table(*found)
    else:
        root = project_root(path)
        config = Config(root=root, cache_dir=root / _CACHE if is_root(root) else None)
    wanted = releases.required(requirements(config.root), load().released)
    config = replace(config, registered=with_releases(config.registered, wanted))
    return replace(config, cache_dir=None) if os.environ.get(NO_CACHE) else config


def find(start: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the nearest settings at or above `start`, as their file and their table; None if there are none."""
    folder = start.absolute() if start.is_dir() else start.absolute().parent
    for directory in (folder, *folder.parents):
        own = directory / "detlint.toml"
        if own.is_file():
            return own, _read(own)
        shared = directory / "pyproject.toml"
        if shared.is_file():
            table = _shared(shared)
            if table is not None:
                return shared, table
    return None


def settings_in(file: Path) -> Mapping[str, Any]:
    """Return the settings in a file: `[tool.detlint]` of a pyproject.toml, all of any other. Raises ConfigError."""
    if not file.is_file():
        raise ConfigError(f"{file} does not exist; --config takes a file such as detlint.toml or pyproject.toml")
    table = _shared(file) if file.name == "pyproject.toml" else _read(file)
    if table is None:
        raise ConfigError(f"{file} has no table [tool.detlint]; --config takes a file with settings of detlint")
    return table


def _shared(path: Path) -> Mapping[str, Any] | None:
    """Return detlint's settings in a file shared by several tools; None if it has none. Raises ConfigError."""
    table = _table(_read(path).get("tool")).get("detlint")
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.detlint must be a table")
    return table


def project_root(start: Path) -> Path:
    """Return the nearest folder at or above `start` that looks like a project's, otherwise the folder of `start`."""
    folder = start if start.is_dir() else start.parent
    absolute = folder.absolute()
    return next((d for d in (absolute, *absolute.parents) if is_root(d)), folder)


def is_root(folder: Path) -> bool:
    """Return whether a folder looks like a project's root."""
    return any((folder / mark).exists() for mark in MARKS)


def outermost(root: Path) -> Path:
    """Return the outermost folder of a project: its root if settings say so, otherwise that of the projects around it.

    A folder of examples with requirements of their own may import the rest of its repository.
    """
    root = root.resolve()
    if find(root) is not None:
        return root
    found = root
    for folder in (root, *root.parents):
        found = folder if is_root(folder) else found
        if (folder / ".git").exists():
            break
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: it cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: it is no UTF-8, as TOML is; save it so") from error
    except ValueError as error:
        said, _, place = str(error).partition(" (at line ")
        where = "".join(f":{number}" for number in re.findall(r"\d+", place))
        raise ConfigError(f"{path}{where}: it is not TOML: {said}") from error


_parsed = lru_cache(maxsize=8)(toml.loads)  # a run reads the same files for its settings and for requirements


def from_table(path: Path, table: Mapping[str, Any], root: Path | None = None) -> Config:
    """Return the settings in the table of the file at `path`, for the project in `root` or the file's folder.

    Raises ConfigError for an unknown key or a value of the wrong type.
    """
    root = path.parent if root is None else root
    for key in table:
        if key not in KNOWN:
            raise ConfigError(f"{path}: unknown setting {key!r}{nearest(key, KNOWN)}; known are {', '.join(KNOWN)}")
    ignores = table.get("per-file-ignores", {})
    if not isinstance(ignores, dict):
        raise ConfigError(f"{path}: per-file-ignores must be a table of lists, such as {_TABLE}")
    for key in ("torch-version", "baseline"):
        if not isinstance(table.get(key, ""), str):
            raise ConfigError(f"{path}: {key} must be a string")
    cache_dir = table.get("cache-dir", _CACHE)
    if not isinstance(cache_dir, str) or not cache_dir:
        raise ConfigError(f"{path}: cache-dir must be the name of a folder")
    gitignore = table.get("respect-gitignore", True)
    if not isinstance(gitignore, bool):
        raise ConfigError(f"{path}: respect-gitignore must be true or false")
    select = _strings(path, "select", table.get("select", []))
    return Config(
        select=extended(select, _strings(path, "extend-select", table.get("extend-select", []))),
        ignore=_strings(path, "ignore", table.get("ignore", [])),
        exclude=_strings(path, "exclude", table.get("exclude", [])),
        respect_gitignore=gitignore,
        per_file_ignores={k: _strings(path, f"per-file-ignores.{k}", v) for k, v in ignores.items()},
        severity=severity(f"{path}: severity", table.get("severity", "note")),
        breaks=promises(f"{path}: breaks", _strings(path, "breaks", table.get("breaks", []))),
        torch_version=table.get("torch-version", ""),
        runtime=runtime(f"{path}: runtime", table.get("runtime", "auto")),
        baseline=path.parent / table["baseline"] if table.get("baseline") else None,
        registered=_registered(path, table),
        root=root,
        cache_dir=root / cache_dir,
    )


def _registered(path: Path, table: Mapping[str, Any]) -> str:
    try:
        return registering.rows(table)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def _strings(path: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        example = f', such as ["{value}"]' if isinstance(value, str) else ""
        raise ConfigError(f"{path}: {key} must be a list of strings{example}")
    return tuple(value)


def extended(select: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return selectors with `more` added; if `select` is empty, the default rules with `more`."""
    return (*(select or (DEFAULT,)), *more) if more else select


def severity(where: str, value: object) -> Severity:
    """Return the severity of that name; in an error `where` names what holds it. Raises ConfigError."""
    try:
        return Severity(value)
    except ValueError:
        raise ConfigError(f"{where} must be error, warning or note, not {value!r}") from None


def runtime(where: str, value: object) -> str:
    """Return how fixes import their functions: "auto", "vendor", "import" or "inline". Raises ConfigError."""
    if value not in RUNTIMES:
        raise ConfigError(f"{where} must be auto, vendor, import or inline, not {value!r}")
    return str(value)


def promises(where: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return `values` if all are promises that a finding can break. Raises ConfigError otherwise."""
    for value in values:
        if value not in PROMISES:
            raise ConfigError(f"{where} must be among {', '.join(PROMISES)}, not {value!r}")
    return values


def target_torch(wanted: str, root: Path, catalogue: Catalogue) -> Version:
    """Return the PyTorch version to judge by: the one asked for, the project's requirement, or the newest known.

    Raises ConfigError if the one asked for is not a version.
    """
    if wanted:
        try:
            return Version(wanted)
        except InvalidVersion:
            raise ConfigError(f"torch version {wanted!r} is not a version such as 2.4 or 2.4.1") from None
    for text in requirements(root):
        match = re.match(r"\s*torch\b(?![\w.-])[^;#]*", text)
        if match:
            from packaging.requirements import InvalidRequirement, Requirement  # slow to import

            try:
                required = Requirement(match.group().strip()).specifier
            except InvalidRequirement:
                continue
            pins = [spec.version for spec in required if spec.operator in ("==", "===") and "*" not in spec.version]
            return Version(Version(pins[0]).public) if pins else catalogue.newest_release(str(required))
    return catalogue.newest_release()


def requirements(root: Path) -> list[str]:
    """Return the requirement lines of a project, the most binding file first."""
    found: list[str] = []
    for name in REQUIREMENTS:
        path = root / name
        if path.is_file():
            found += path.read_text(encoding="utf-8", errors="replace").splitlines()
    path = root / "pyproject.toml"
    if path.is_file():
        project = _table(_read(path).get("project"))
        groups = [project.get("dependencies"), *_table(project.get("optional-dependencies")).values()]
        found += [line for group in groups if isinstance(group, list) for line in group]
    return [line for line in found if isinstance(line, str)]


def is_installable(root: Path) -> bool:
    """Return whether pip can install a project: it has a setup.py, or metadata in a settings file."""
    if (root / "setup.py").is_file():
        return True
    path = root / "setup.cfg"
    if path.is_file() and re.search(r"^\[metadata\]", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE):
        return True
    path = root / "pyproject.toml"
    if not path.is_file():
        return False
    settings = _read(path)
    return "project" in settings or "poetry" in _table(settings.get("tool"))


def _table(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a table, otherwise an empty one: another tool's settings are not ours to judge."""
    return value if isinstance(value, dict) else {}
