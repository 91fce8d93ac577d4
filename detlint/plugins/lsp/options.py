"""The editor's own settings, which are laid over those of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from detlint import config
from detlint.catalogue import Catalogue, nearest
from detlint.config import Config, ConfigError
from detlint.finding import Severity

_WHERE = "the editor's settings"
KNOWN = ("select", "ignore", "severity", "torchVersion", "unsafeFixes")


@dataclass(frozen=True)
class Options:
    """The settings. `unsafe_fixes` lets the action that fixes a whole file make unsafe fixes too."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity | None = None
    torch_version: str = ""
    unsafe_fixes: bool = False

    @classmethod
    def of(cls, given: object, rules: Catalogue) -> Options:
        """Return the options that a client sends. Raises ConfigError and CatalogueError."""
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise ConfigError(f"{_WHERE} must be an object")
        for key in given:
            if key not in KNOWN:
                raise ConfigError(
                    f"{_WHERE}: unknown setting {key!r}{nearest(str(key), KNOWN)}; known are {', '.join(KNOWN)}"
                )
        severity = given.get("severity")
        return cls(
            _selectors("select", given.get("select"), rules),
            _selectors("ignore", given.get("ignore"), rules),
            None if severity is None else config.severity(f"{_WHERE}: severity", severity),
            _version(given.get("torchVersion")),
            _switch("unsafeFixes", given.get("unsafeFixes")),
        )

    def over(self, settings: Config) -> Config:
        """Return the settings of a project with those of the editor laid over them."""
        return replace(
            settings,
            select=self.select or settings.select,
            ignore=settings.ignore + self.ignore,
            severity=self.severity or settings.severity,
            torch_version=self.torch_version or settings.torch_version,
        )


def _selectors(key: str, value: object, rules: Catalogue) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{_WHERE}: {key} must be a list of strings")
    for selector in value:
        rules.matching(selector)
    return tuple(value)


def _version(value: object) -> str:
    try:
        return "" if value is None else str(Version(str(value)))
    except InvalidVersion:
        raise ConfigError(f"{_WHERE}: torchVersion {value!r} is not a version such as 2.4 or 2.4.1") from None


def _switch(key: str, value: object) -> bool:
    if value not in (None, True, False):
        raise ConfigError(f"{_WHERE}: {key} must be true or false")
    return bool(value)
