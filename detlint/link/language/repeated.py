"""Runs of functions that another program has made and that come out the same in this one."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.link.language.evaluate import Evaluator
from detlint.link.state.records import Circumstances, Exact, Name, Record, Result, context, contexts, named, result
from detlint.link.state.spans import Span
from detlint.link.state.values import Object, Value
from detlint.link.state.watch import Memory

_DEPTH = 60  # calls within calls
_AGAIN = 2  # how often a function may call itself
_NOTHING: frozenset[Object] = frozenset()
_WALKS = 30_000  # functions in one entry point


class Repeated(Evaluator):
    """Records runs of functions, and repeats what they did where a program is as they found it.

    What a run looks at outside of its variables is noted where it looks, and what it changes there is an effect. A run
    that does something of which no note is taken, such as importing a file for the first time, is not recorded.
    """

    def begin_record(self, key: Exact, variables: Mapping[str, Value]) -> Record | None:
        """Begin to record a run, unless no other program can make it: one of what the script defines or makes."""
        function, _, _, owners = key
        own = function.path == self.script or any(owner.path == self.script for owner, _ in owners)
        if own or self.loading:
            self.unrepeatable()
            return None
        record = Record(named(function), variables, self.circumstances(), self.depth)
        self.program.objects.record = record
        return record

    def end_record(self, record: Record, outer: Record | None, key: Exact, found: Result) -> None:
        """Keep the record of a run for other programs, as a part of the run around it too."""
        self.program.objects.record = outer
        record.end(found, self.program.span)
        if outer is not None:
            outer.include(record, record.start, self.depth)
        if record.reach >= record.depth:
            self.program.records.keep(key, record)

    def repeated(self, key: Exact, variables: Mapping[str, Value]) -> Result | None:
        """The result of a run that found everything as it is now, whose effects are repeated; None without one."""
        records = self.program.records.find(key)
        if not records:
            return None
        now = self.circumstances()
        for record in records:
            within = self.depth + record.deepest - record.depth <= _DEPTH and self.walked + record.walked <= _WALKS
            if within and record.holds(self, variables, now):
                outer, self.program.objects.record = self.program.objects.record, None
                record.watch(self)
                self.program.span.inner[record.span] = None
                for repeat, *given in record.effects:
                    repeat(self, *given)
                self.walked += record.walked
                self.statement_place = record.statement or self.statement_place
                self.program.objects.record = outer
                if outer is not None:
                    outer.include(record, now, self.depth)
                self.program.records.prefer(key)
                return record.result
        return None

    def circumstances(self) -> Circumstances:
        """What a function that is called now may ask of what is around the call."""
        doubtful = bool(self.frame.exits) or self.frame.doubtful
        nested = self.doubts, self.unlikely, self.chosen, self.dispatching
        calling = frozenset(self.calling) if self.calling else _NOTHING
        return Circumstances(*nested, doubtful, self.iterating, self.node, self.statement_place, calling)

    # What was run before in this program

    def remembered(self, key: object) -> Result | None:
        """The result of a function that was run with these arguments, if it was."""
        known = self.program.memo.get(key)
        found = known.result if known is not None and known.holds else None
        if self.program.objects.record is not None:
            self.program.objects.record.looks[result].setdefault(key, found)
        if known is not None and found is not None:
            self.program.objects.watch.use(known.run)
            self.program.span.inner[known.span] = None
        return found

    def remember(self, key: object, found: Result, span: Span) -> None:
        """Keep the result of a function for when it is called again."""
        known = self.program.memo.get(key)
        anew = 0 if known is None else known.anew + 1
        self.program.memo[key] = Memory(found, self.program.objects.watch.run, anew, span)
        self.effect(Repeated.remember, key, found, span)

    def told_apart(self, name: Name, key: Exact) -> tuple[bool, int]:
        """Whether calls of a function with these arguments are told from others, and how many are."""
        known, record = self.contexts[name], self.program.objects.record
        if record is not None:
            record.looks[context].setdefault(key, key in known)
            if key not in known:
                record.looks[contexts].setdefault(name, len(known))
        return key in known, len(known)

    def tell_apart(self, name: Name, key: Exact) -> None:
        """From now on, tell calls of a function with these arguments from others."""
        self.contexts[name].add(key)
        self.effect(Repeated.tell_apart, name, key)

    def follows(self, name: Name) -> bool:
        """Whether a call of a function is followed: not where it calls itself for ever, or after very many others."""
        if self.depth >= _DEPTH or self.walked >= _WALKS:
            self.unrepeatable()
            return False
        if name not in self.active:
            return True
        self.reach(name)
        return self.active.count(name) < _AGAIN
