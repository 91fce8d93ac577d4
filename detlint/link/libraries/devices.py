"""Devices and contexts in which nothing is drawn: the device without values, and contexts that make models without."""

from __future__ import annotations

from detlint.link.libraries.switches import Switches
from detlint.link.state.values import Atom, Library, Object, Value, exact


class Devices(Switches):
    """The part of the interpreter that recognises devices and contexts in which nothing is drawn."""

    def is_undrawn(self, context: Value) -> bool:
        """Return whether nothing is drawn in a context, as on the meta device, for all that the context may be."""
        return bool(context) and all(map(self._is_undrawn, context))

    def _is_undrawn(self, context: Atom) -> bool:
        if isinstance(context, Object) and isinstance(context.kind, Library):
            row = self.tables.undrawn.get(context.kind.name)
            if row is not None:
                given = self.kept(context, context.kind.name)
                if row.text("kind") == "stack":
                    stacked = [atom for each in given.first() if self.is_container(each) for atom in self.held(each)]
                    return any(map(self._is_undrawn, stacked))
                return row.text("kind") == "context" or self.is_meta(given.get("device"))
        return self.is_meta(frozenset((context,)))

    def is_meta(self, device: Value) -> bool:
        """Return whether a device is certainly the meta device, on which tensors have no values."""
        made = (a for a in device if isinstance(a, Object) and a.kind == Library("torch.device"))
        kinds = [self.kept(each, "torch.device").get("type") for each in made]
        objects = len(kinds) == len(device) > 0 and all(exact(kind) == "meta" for kind in kinds)
        return objects or exact(device) == "meta"
