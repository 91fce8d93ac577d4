"""Runs of functions that another program has made and that have the same result in this one."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.link.language.evaluate import Evaluator
from detlint.link.state.records import Circumstances, Exact, Name, Record, Result, context, contexts, named, result
from detlint.link.state.spans import Span
from detlint.link.state.values import Object, Value
from detlint.link.state.watch import Memory

_DEPTH = 60  # nested calls
_AGAIN = 2  # calls of one function that may be active at once
_NOTHING: frozenset[Object] = frozenset()
_WALKS = 30_000  # function runs in one entry point


class Repeated(Evaluator):
    """The part of the interpreter that records runs of functions, and repeats them if all is as they found it.

    What a run reads outside its variables is recorded where it is read, and what it changes there is an effect. A run
    that does something that is not recorded, such as importing a file for the first time, is not kept.
    """

    def begin_record(self, key: Exact, variables: Mapping[str, Value]) -> Record | None:
        """Begin to record a run; return None if no other program can make it, as with what the script defines."""
        function, _, _, owners = key
        own = function.path == self.script or any(owner.path == self.script for owner, _ in owners)
        if own or self.loading:
            self.unrepeatable()
            return None
        record = Record(named(function), variables, self.circumstances(), self.depth)
        self.program.objects.record = record
        return record

    def end_record(self, record: Record, outer: Record | None, key: Exact, found: Result) -> None:
        """Keep the record of a run for other programs, and as a part of the run around it."""
        self.program.objects.record = outer
        record.end(found, self.program.span)
        if outer is not None:
            outer.include(record, record.start, self.depth)
        if record.reach >= record.depth:
            self.program.records.keep(key, record)

    def repeated(self, key: Exact, variables: Mapping[str, Value]) -> Result | None:
        """Repeat the effects of a recorded run that found everything as it is now; return its result, or None."""
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
        """Return what a function that is called now may depend on in the surroundings of the call."""
        doubtful = bool(self.frame.exits) or self.frame.doubtful
        nested = self.doubts, self.unlikely, self.chosen, self.dispatching
        calling = frozenset(self.calling) if self.calling else _NOTHING
        return Circumstances(*nested, doubtful, self.iterating, self.node, self.statement_place, calling)

    # What was run before in this program

    def remembered(self, key: object) -> Result | None:
        """Return the result of an earlier run of a function in this context; None if there is none that still holds."""
        known = self.program.memo.get(key)
        found = known.result if known is not None and known.holds else None
        if self.program.objects.record is not None:
            self.program.objects.record.looks[result].setdefault(key, found)
        if known is not None and found is not None:
            self.program.objects.watch.use(known.run)
            self.program.span.inner[known.span] = None
        return found

    def remember(self, key: object, found: Result, span: Span) -> None:
        """Keep the result of a function for later calls in this context."""
        known = self.program.memo.get(key)
        anew = 0 if known is None else known.anew + 1
        self.program.memo[key] = Memory(found, self.program.objects.watch.run, anew, span)
        self.effect(Repeated.remember, key, found, span)

    def told_apart(self, name: Name, key: Exact) -> tuple[bool, int]:
        """Return whether calls of a function in this context are distinguished, and the number of its contexts."""
        known, record = self.contexts[name], self.program.objects.record
        if record is not None:
            record.looks[context].setdefault(key, key in known)
            if key not in known:
                record.looks[contexts].setdefault(name, len(known))
        return key in known, len(known)

    def tell_apart(self, name: Name, key: Exact) -> None:
        """Distinguish calls of a function in this context from others from now on."""
        self.contexts[name].add(key)
        self.effect(Repeated.tell_apart, name, key)

    def follows(self, name: Name) -> bool:
        """Return whether a call is followed: not in a deep recursion, or after very many other calls."""
        if self.depth >= _DEPTH or self.walked >= _WALKS:
            self.unrepeatable()
            return False
        if name not in self.active:
            return True
        self.reach(name)
        return self.active.count(name) < _AGAIN
