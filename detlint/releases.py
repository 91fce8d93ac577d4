"""Releases of libraries: which specifiers include one, which a project takes, and whether a row speaks of these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from packaging.version import Version

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*\(?((?:[<>=!~]=?=?[^;#()]*)?)")
_SINCE_OR_BEFORE = re.compile(r"(>=|<)([0-9.]*[0-9])")
_NEWEST = Version("99999")  # where nothing bounds it: what is not required is taken as of today
_OLDEST = Version("0")


@cache
def includes(specifiers: str, version: Version) -> bool:
    """Whether a version is among those that specifiers (PEP 440) say; none say all."""
    if not specifiers:
        return True
    clauses = [_SINCE_OR_BEFORE.fullmatch(each) for each in specifiers.split(",")]
    if version.base_version == str(version) and None not in clauses:
        return all((version >= Version(each[2])) is (each[1] == ">=") for each in clauses if each is not None)
    from packaging.specifiers import SpecifierSet  # it imports much, and few versions need all that it knows

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
    """Whether a row of these releases ("albumentations>=1.4.21") speaks of the newest that a project allows.

    `releases` has its requirements, by library.
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
