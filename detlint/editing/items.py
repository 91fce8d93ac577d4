"""One more item in brackets: an argument of a call or an entry of a dict, laid out like the present ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

Item = cst.Arg | cst.BaseDictElement
_NONE = cst.SimpleWhitespace("")


@dataclass
class Items:
    """The items in brackets, with the space before each, and before the closing bracket.

    `comma` says whether one follows the last item.
    """

    items: list[Item]
    before: list[cst.BaseParenthesizableWhitespace]
    closing: cst.BaseParenthesizableWhitespace
    comma: bool

    @classmethod
    def of(cls, node: cst.Call | cst.Dict) -> Items:
        """Take a call's arguments or a dict's entries apart."""
        items: list[Item] = list(node.args if isinstance(node, cst.Call) else node.elements)
        opening = node.whitespace_before_args if isinstance(node, cst.Call) else node.lbrace.whitespace_after
        before, comma = [opening], False
        for item in items:
            comma = isinstance(item.comma, cst.Comma)
            space = item.comma.whitespace_after if isinstance(item.comma, cst.Comma) else _NONE
            before.append(space)
        closing = before.pop()
        if isinstance(node, cst.Dict) and (not comma or _is_nothing(closing)) and items:
            closing = node.rbrace.whitespace_before
        elif isinstance(node, cst.Call) and items and (not comma or _is_nothing(closing)):
            closing = node.args[-1].whitespace_after_arg
        return cls(items, before, closing, comma)

    def put(self, node: cst.Call | cst.Dict) -> cst.Call | cst.Dict:
        """Return a call or a dict with these items."""
        spaces = [*self.before[1:], self.closing]
        items = [self._with_comma(item, i, spaces[i]) for i, item in enumerate(self.items)]
        if isinstance(node, cst.Call):
            return node.with_changes(args=items, whitespace_before_args=self.before[0])
        rbrace = node.rbrace.with_changes(whitespace_before=_NONE if self.comma else self.closing)
        return node.with_changes(
            elements=items, lbrace=node.lbrace.with_changes(whitespace_after=self.before[0]), rbrace=rbrace
        )

    def _with_comma(self, item: Item, index: int, space: cst.BaseParenthesizableWhitespace) -> Item:
        last = index == len(self.items) - 1
        has = not last or self.comma
        old = item.comma if isinstance(item.comma, cst.Comma) else cst.Comma()
        changed = item.with_changes(
            comma=old.with_changes(whitespace_after=space) if has else cst.MaybeSentinel.DEFAULT
        )
        if isinstance(changed, cst.Arg):
            return changed.with_changes(whitespace_after_arg=_NONE if has else space)
        return changed

    def spread(self, new: Sequence[Item], indent: str, inner: str) -> None:
        """Put each item, and the new ones, on a line of its own."""
        place = len(self.items) - self._unpacked()
        self.items[place:place] = new
        self.before = [line_break(inner) for _ in self.items]
        self.closing, self.comma = line_break(indent), True

    def add(self, new: Item, indent: str, *, own_line: bool) -> None:
        """Add an item at the end or before a `**`; on its own line if the others are, or with `own_line`."""
        unpacked = self._unpacked()
        if self.items and isinstance(self.before[-1], cst.ParenthesizedWhitespace):
            own_line, indent = True, self.before[-1].last_line.value
        space = line_break(indent) if own_line else cst.SimpleWhitespace(" ")
        if not self.items:
            self.items, self.before = [new], [_NONE]
        elif unpacked and len(self.items) == 1:
            self.items, self.before = [new, *self.items], [self.before[0], space]
        elif unpacked:
            ahead = line_break(indent) if own_line and not breaks(self.before[-1]) else self.before[-1]
            self.items[-1:] = [new, self.items[-1]]
            self.before[-1:] = [ahead, space]
        else:
            self.items.append(new)
            if isinstance(self.closing, cst.ParenthesizedWhitespace) and own_line:
                self.before.append(self.closing.with_changes(last_line=cst.SimpleWhitespace(indent)))
                self.closing = line_break(self.closing.last_line.value)
            else:
                self.before.append(space)

    def _unpacked(self) -> int:
        """Return 1 if the last item is unpacked by `**`, otherwise 0."""
        last = self.items[-1] if self.items else None
        return int(isinstance(last, cst.StarredDictElement) or (isinstance(last, cst.Arg) and last.star == "**"))


def line_break(indent: str) -> cst.ParenthesizedWhitespace:
    """Return a new line within brackets."""
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(indent))


def breaks(space: cst.BaseParenthesizableWhitespace) -> bool:
    """Return whether space spans lines."""
    return isinstance(space, cst.ParenthesizedWhitespace)


def is_generator_alone(items: Sequence[Item]) -> bool:
    """Return whether the only argument is a generator expression without parentheses of its own."""
    value = items[0].value if len(items) == 1 and isinstance(items[0], cst.Arg) else None
    return isinstance(value, cst.GeneratorExp) and not value.lpar


def _is_nothing(space: cst.BaseParenthesizableWhitespace) -> bool:
    return isinstance(space, cst.SimpleWhitespace) and not space.value
