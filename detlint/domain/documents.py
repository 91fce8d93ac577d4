"""What the interpreter asks of the configuration files of a project."""

from __future__ import annotations

from typing import Any, Protocol

TARGET, PARTIAL, RECURSIVE, POSITIONAL = "_target_", "_partial_", "_recursive_", "_args_"
"""Keys by which a configuration says what Hydra makes of it, and how."""


class Documents(Protocol):
    """The configuration files of a project; what is asked for is noted."""

    def has(self, path: str) -> bool:
        """Whether there is a file."""
        ...

    def text(self, path: str) -> str:
        """What is in a file that is there."""
        ...

    def parsed(self, path: str, form: str) -> Any:
        """What a file says in a form, such as "yaml"; None where it says nothing that can be read."""
        ...
