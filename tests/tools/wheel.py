"""Makes the document that a wheel brings in place of the texts of `rules/`, which take longer to read."""

from __future__ import annotations

import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """What hatchling runs before it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the document anew. Raises ValueError where a page or a table is not well formed."""
        sys.path.insert(0, self.root)
        try:
            from detlint import rulebook
        finally:
            sys.path.remove(self.root)
        rulebook.content()
