"""Releases of libraries: which specifiers include one, which a project allows, and whether a row applies to these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from packaging.version import Version

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?((?:[<>=!~]=?=?[^;#()]*)?)")
_SINCE_OR_BEFORE = re.compile(r"(>=|<)([0-9.]*[0-9])")
_NEWEST = Version("99999")  # without an upper bound: a library that is not required counts as its newest release
_OLDEST = Version("0")


@cache
def includes(specifiers: str, version: Version) -> bool:
    """Return whether specifiers (PEP 440) include a version; empty specifiers include all."""
    if not specifiers:
        return True
    clauses = [_SINCE_OR_BEFORE.fullmatch(each) for each in specifiers.split(",")]
    if version.base_version == str(version) and None not in clauses:
        return all((version >= Version(each[2])) is (each[1] == ">=") for each in clauses if each is not None)
    from packaging.specifiers import SpecifierSet  # it imports much, and few versions need it

    return SpecifierSet(specifiers).contains(version, prereleases=True)


def required(lines: Iterable[str], libraries: Collection[str]) -> dict[str, str]:
    """Return the specifiers (PEP 440) of those of `libraries` that requirements name: "" for any release.

    Of several requirements of one library the first counts, which is in the most binding file.
    """
    found: dict[str, str] = {}
    for line in lines:
        match = _REQUIREMENT.match(line)
        name = re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""
        if match and name in libraries:
            found.setdefault(name, match[2].strip())
    return found


def holds(release: str, releases: Mapping[str, str]) -> bool:
    """Return whether a row for a release ("albumentations>=1.4.21") applies to the newest one that a project allows.

    `releases` has the project's requirements, by library. Raises ValueError if `release` is not a release of a library.
    """
    match = _REQUIREMENT.match(release)
    if match is None:
        raise ValueError(f"{release!r} is no release of a library, such as albumentations>=1.4.21")
    requirement = releases.get(match[1], "")
    return _holds(match[2], requirement) if requirement else includes(match[2].strip(), _NEWEST)


@cache
def _holds(release: str, requirement: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # it imports much, and few rows ask

    spoken_of = SpecifierSet(release)
    try:
        allowed = SpecifierSet(requirement)
    except InvalidSpecifier:
        allowed = SpecifierSet()
    bounds = [each.version.removesuffix(".*") for each in (*spoken_of, *allowed)]
    fitting = [each for each in (_NEWEST, *map(Version, bounds)) if allowed.contains(each, prereleases=True)]
    return spoken_of.contains(max(fitting, default=_OLDEST), prereleases=True)
