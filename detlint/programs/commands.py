"""Programs that console scripts start: each imports a file and calls something that this defines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from detlint.domain.atoms import FunctionRef, Node
from detlint.ir import nodes as ir


class Command(msgspec.Struct, frozen=True):
    """What a console script calls: something of a file, by its name there."""

    file: str
    name: str

    @property
    def start(self) -> Node:
        """The node with which the program starts."""
        return Node(FunctionRef(self.file, _function(self.name)))


def added(files: Mapping[str, ir.File], commands: Iterable[Command]) -> dict[str, ir.File]:
    """Files with the functions that console scripts run among their own."""
    found = dict(files)
    for command in commands:
        file, qualified = found[command.file], _function(command.name)
        call = ir.Call(ir.Global(command.name), (), -1)
        function = ir.Function(command.name, qualified, (), (ir.Do(call),))
        found[command.file] = msgspec.structs.replace(file, functions={**file.functions, qualified: function})
    return found


def _function(name: str) -> str:
    return f"{ir.COMMAND} {name}"
