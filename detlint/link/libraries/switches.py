"""Switches that calls and assignments set, and those that options turn on."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.libraries.callbacks import Callbacks
from detlint.link.state.arguments import Arguments
from detlint.link.state.truth import Truth
from detlint.link.state.values import UNKNOWN
from detlint.programs.events import UNSURE, Switched, is_parameter


class Switches(Callbacks):
    """The part of the interpreter that sets switches, as the tables of facts say."""

    def call_switches(self, name: str, given: Arguments, place: Place) -> None:
        """Set the switches of a call: those that its arguments set, and those set only if an option turns a flag on."""
        settings = self.tables.settings.get(name, ())
        certain = [row for row in settings if given.applies(row.list("when"), row.list("unless"))]
        option, chosen = given.turned_on() if settings else ("", given)
        if option:
            others = [row for row in settings if chosen.applies(row.list("when"), row.list("unless"))]
            self.choose(option, [row for row in others if row not in certain], place)
        for row in certain:
            self.switch(row.text("switch"), row.text("word"), place)
        if not certain and any(given.get(parameter) >= UNKNOWN for parameter in given.defaults):
            for name_of_switch in {row.text("switch"): row for row in settings if row.list("when")}:
                self.switch(name_of_switch, UNSURE, place)

    def choose(self, option: str, rows: Sequence[Row], place: Place) -> None:
        """Record switches that are set only if an option differs from its default."""
        with self.guarded(option):
            for row in rows if not is_parameter(option) else ():
                self.note(Switched(row.text("switch"), row.text("word") or "on", place))

    def switch(self, name: str, word: str, place: Place) -> None:
        """Set a switch, and record that."""
        if self.state is not None:
            self.note(Switched(name, word, place))
            self.state = self.state.but((name,), word)

    def switch_by(self, name: str, answer: Truth, place: Place) -> None:
        """Set the switches that an attribute of a library stands for, to a value that is true or false."""
        for row in self.tables.settings.get(name, ()):
            if name not in row.list("names"):
                continue  # a function, which is overwritten and not called
            if answer.usual is False and answer.may_hold:
                self.choose(answer.option, [row], place)
            word = "on" if answer.usual else "off" if answer.usual is False else UNSURE
            self.switch(row.text("switch"), word, place)
