"""What decides the order of items in a set: salted hashes, addresses, or neither; and whether they can be sorted."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.analysis.sets.hashed import KindOf, kind_of_hash
from detlint.analysis.sets.kinds import ALIKE, SALTED, Kind, joined, tuple_of
from detlint.analysis.sets.optional import may_be_none
from detlint.analysis.sets.taken import are_numbers, column, may_be_column, taken_as
from detlint.analysis.values.options import is_number_option
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, reaching, returned

_VIEWS = frozenset(("keys", "copy"))
_HOLDING = frozenset(("assign", "named", "with"))  # kinds of bindings that have a value


class Elements:
    """The kinds of the items of one file's sets and other iterables."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._tables: dict[tuple[str, str], dict[str, Kind]] = {}
        for row in module.catalogue.rows("order", "element"):
            others = {name: kind for kind in (Kind.PATH, Kind.BYTES) for name in row.list(kind.value)}
            for key in ("names", "methods", "attributes", "types"):
                table = self._tables.setdefault((row.text("gives"), key), {})
                table |= {name: others.get(name, Kind(row.text("kind"))) for name in row.list(key)}
        self._same = module.python("functions", "same-items")
        self._algebra = module.python("methods", "set-algebra")
        self._types = module.python("types", "many") | module.python("types", "set")
        self._many: dict[s.Expression, Kind] = {}
        self._asked: dict[s.Expression, None] = {}  # expressions that are being examined
        self._assumed = False  # whether one of them was met again meanwhile
        self._since: list[s.Expression] = []  # expressions answered since the first of them
        self._one: dict[s.Expression, Kind] = {}

    def row(self, kind: Kind) -> Row | None:
        """Return the row of the table that says how single items of a kind are hashed, or None."""
        rows = self.module.catalogue.rows("order", "element")
        wanted = Kind.TEXT if kind in SALTED else kind
        return next((row for row in rows if row.text("gives") == "one" and row.text("kind") == wanted.value), None)

    @staticmethod
    def _given(function: s.Function, annotated: KindOf, told: KindOf) -> Kind:
        """Return the kind of what a function gives, by its annotation or by what it returns."""
        if function.returns is not None:
            return annotated(function.returns)
        return joined(map(told, returned(function)))

    # Items

    def of(self, node: s.Expression) -> Kind:
        """Return the kind of items that an iterable holds; where it is made from itself, only other sources count."""
        if node in self._asked:
            self._assumed = True
            return Kind.STABLE
        if node not in self._many:
            self._asked[node] = None
            found = self._of(node)
            if found is Kind.UNKNOWN and self.module.types(node) == {"builtins.str"}:
                found = Kind.TEXT
            self._many[node] = found
            del self._asked[node]
            self._since.append(node)
            if not self._asked:
                self._conclude()
        return self._many[node]

    def kept(self, node: s.Expression) -> Kind:
        """Return the kind of items of a collection that may be empty where it is made, by what is put into it later."""
        around = node.parent
        if isinstance(around, s.Assign) and around.value is node and self._is_empty(node):
            return joined([self._of_attribute(t) if isinstance(t, s.Attribute) else self.of(t) for t in around.targets])
        return self.of(node)

    def are_numbers(self, node: s.Expression) -> bool:
        """Return whether what is done with the items of a collection shows that they are numbers."""
        return are_numbers(self.module, self._tables, node)

    def _conclude(self) -> None:
        """Forget what was found on an assumption, except for the first expression asked for: its answer is complete."""
        for node in self._since[:-1] if self._assumed else ():
            self._many.pop(node, None)
        self._assumed = False
        self._since.clear()

    def _of(self, node: s.Expression) -> Kind:
        if isinstance(node, s.Collection):
            return joined([self._element(element) for element in node.elements] or [Kind.STABLE])
        if isinstance(node, s.Constant):
            return Kind.TEXT if isinstance(node.value, str) else Kind.UNKNOWN
        if isinstance(node, s.Dictionary):
            return joined([Kind.UNKNOWN if key is None else self.one(key) for key in node.keys])
        if isinstance(node, s.Comprehension):
            return self.one(node.elements[0])
        if isinstance(node, s.Operation):
            if node.operator in ("-", "&"):  # what is taken away, or looked for, is alike
                first, *others = map(self.of, node.operands)
                return first if first is not Kind.UNKNOWN else next((kind for kind in others if kind in SALTED), first)
            return joined([self.of(operand) for operand in node.operands])
        if isinstance(node, s.Conditional):
            return joined([self.of(node.body), self.of(node.orelse)])
        if isinstance(node, s.NamedExpression):
            return self.of(node.value)
        if isinstance(node, s.Name):
            return self._of_name(node)
        if isinstance(node, s.Attribute):
            return self._of_attribute(node)
        if isinstance(node, s.Subscript):
            sliced = len(node.indices) == 1 and isinstance(node.indices[0], s.Slice)
            return self.of(node.value) if sliced else column(self.module, node)
        return self._of_call(node) if isinstance(node, s.Call) else Kind.UNKNOWN

    def _element(self, node: s.Expression) -> Kind:
        return self.of(node.value) if isinstance(node, s.Starred) else self.one(node)

    def _of_call(self, node: s.Call) -> Kind:
        names = self.module.callee(node)
        table = self._tables["many", "names"]
        if names and all(name in table for name in names):
            return joined(table[name] for name in names)
        if names and names <= self._same:
            if names == {"builtins.filter"}:
                return self.of(node.arguments[-1].value) if node.arguments else Kind.UNKNOWN
            return joined([self.of(a.value) for a in node.arguments if a.keyword is None] or [Kind.UNKNOWN])
        if names == {"builtins.map"} and node.arguments:
            made = self._tables["one", "names"]
            return joined(made.get(name, Kind.UNKNOWN) for name in self.module.names(node.arguments[0].value))
        functions = [self.module.functions[name] for name in names if name in self.module.functions]
        if functions:
            return joined(self._given(f, self._annotated_many, self.of) for f in functions)
        if isinstance(node.function, s.Attribute):
            method, receiver = node.function.attribute, node.function.value
            if method in self._algebra | _VIEWS:
                first = self.of(receiver)
                if method in ("union", "symmetric_difference"):
                    return joined([first, *(self.of(a.value) for a in node.arguments)])
                return first
            if method == "items":
                return tuple_of((self.of(receiver), Kind.UNKNOWN))
            if method == "tolist" and not may_be_column(self.module, receiver):
                return Kind.STABLE  # numbers of an array
            if method == "read" and not node.arguments:
                return self._of_file(receiver)
            found = self._tables["many", "methods"].get(method, Kind.UNKNOWN)
            if not node.arguments:
                return found
            return found if method in ("split", "rsplit") and self._splits_text(receiver, node) else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _splits_text(self, receiver: s.Expression, call: s.Call) -> bool:
        """Return whether `split` is that of a string: a tensor is split by a number."""
        by = [a.value for i, a in enumerate(call.arguments) if a.keyword == "sep" or (not a.keyword and i == 0)]
        told = any(isinstance(literal(value), (str, bytes)) or literal(value) is None for value in by)
        return told or self.one(receiver) in (Kind.TEXT, Kind.BYTES) or bool(by and self.one(by[0]) is Kind.TEXT)

    def _of_file(self, file: s.Expression) -> Kind:
        """Return the kind of the items of a whole file: characters, or the numbers of its bytes."""
        opening = self._tables["read", "names"]
        kinds: list[Kind] = []
        bindings = (reaching(file) or []) if isinstance(file, s.Name) else []
        for each in [b.value if b.kind in _HOLDING else None for b in bindings] or [file]:
            names = self.module.callee(each) if isinstance(each, s.Call) else frozenset()
            if not names or not isinstance(each, s.Call) or not all(name in opening for name in names):
                return Kind.UNKNOWN
            given = [a.value for i, a in enumerate(each.arguments) if a.keyword == "mode" or (not a.keyword and i == 1)]
            modes = [literal(value) for value in given]
            if not all(isinstance(mode, str) for mode in modes):
                return Kind.UNKNOWN
            binary = any("b" in mode for mode in modes if isinstance(mode, str))
            kinds.append(Kind.STABLE if binary else joined(opening[name] for name in names))
        return joined(kinds)

    def _of_name(self, node: s.Name) -> Kind:
        kinds: list[Kind] = []
        told = False
        for binding in reaching(node) or ():
            annotation = getattr(binding.node, "annotation", None)
            empty = False
            if annotation is not None:
                kinds.append(self._annotated_many(annotation))
                told = kinds[-1] is not Kind.UNKNOWN
            elif binding.kind in _HOLDING and (value := _part(binding)) is not None:
                empty = self._is_empty(value)
                kinds += [] if empty else [self.of(value)]
            elif binding.kind == "augment" and binding.value is not None:
                kinds.append(self.of(binding.value))
            else:
                return Kind.UNKNOWN
        scope = node.scope.find(node.id)
        reads = self.module.reads(scope, node.id) if scope is not None and not told else []
        return self._with_put_in(kinds, reads)

    def _with_put_in(self, kinds: list[Kind], uses: Iterable[s.Expression]) -> Kind:
        """Return the kind of a collection's first items and those that its uses put in; the first take precedence."""
        more = [kind for use in uses for kind in self._put_in(use)]
        if kinds and joined(kinds) is Kind.STABLE:
            more = [kind for kind in more if kind is not Kind.UNKNOWN]
        return joined([*kinds, *more])

    def _is_empty(self, node: s.Expression) -> bool:
        if isinstance(node, s.Constant):
            return node.value is None
        if isinstance(node, (s.Collection, s.Dictionary)):
            return not list(node)
        made = self.module.callee(node) if isinstance(node, s.Call) and not node.arguments else frozenset()
        return bool(made) and made <= self._same

    def _put_in(self, read: s.Expression) -> list[Kind]:
        """Return the kinds of the items that a use of a collection puts into it."""
        parent = read.parent
        if isinstance(parent, s.Subscript) and parent.stored and parent.value is read:
            return [self.one(parent.indices[0])] if not isinstance(parent.indices[0], s.Slice) else []
        if not isinstance(parent, s.Attribute) or not isinstance(parent.parent, s.Call):
            return []
        call = parent.parent
        if call.function is not parent or len(call.arguments) != 1:
            return []
        if parent.attribute in ("add", "append"):
            return [self.one(call.arguments[0].value)]
        return [self.of(call.arguments[0].value)] if parent.attribute in ("update", "extend") else []

    def _of_attribute(self, node: s.Attribute) -> Kind:
        found = self._tables["many", "attributes"].get(node.attribute)
        if found is not None:
            return found
        owner = self.module.owner(node.value)
        if owner is None:
            return Kind.STABLE if is_number_option(self.module, node.attribute) else Kind.UNKNOWN
        for assign in self.module.attribute_assignments(owner, node.attribute):
            if (told := self._annotated_many(assign.annotation)) is not Kind.UNKNOWN:
                return told
        values = self.module.attribute_values(owner, node.attribute)
        kinds = [self.of(value) for value in values if not self._is_empty(value)]
        uses = self.module.attributes(node.attribute)
        return self._with_put_in(kinds, uses)

    def one(self, node: s.Expression) -> Kind:
        """Return the kind of item that a value is."""
        if node not in self._one:
            self._one[node] = Kind.UNKNOWN
            self._one[node] = self._of_one(node)
        return self._one[node]

    def _of_one(self, node: s.Expression) -> Kind:
        if isinstance(node, s.Constant):
            if isinstance(node.value, (str, bytes)):
                return Kind.TEXT if isinstance(node.value, str) else Kind.BYTES
            return Kind.UNKNOWN if node.value is None else Kind.STABLE
        if isinstance(node, s.Collection):
            return tuple_of(self._element(element) for element in node.elements)
        if isinstance(node, s.Operation):
            return self._of_operation(node)
        if isinstance(node, s.Conditional):
            return joined([self.one(node.body), self.one(node.orelse)])
        types = self.module.types(node)
        if types:
            kinds = [self._of_type(name) for name in types]
            return joined([*kinds, Kind.UNKNOWN] if may_be_none(self.module, node) else kinds)
        if isinstance(node, s.Name):
            kinds = [self._bound(binding, node) for binding in reaching(node) or ()]
            return (
                joined(kinds) if Kind.UNKNOWN not in kinds else taken_as(self.module, self._tables, node, self._of_type)
            )
        if isinstance(node, s.Attribute):
            members = {self._of_type(name) for name in self.module.names(node.value)}
            known = self._tables["one", "attributes"].get(node.attribute, Kind.UNKNOWN)
            return Kind.APART if members == {Kind.APART} else known
        if isinstance(node, s.Subscript):
            if isinstance(node.value, s.Call) and _method(node.value) in self._tables["many", "methods"]:
                splits = self.of(node.value)
            else:
                splits = Kind.UNKNOWN
            if splits is Kind.TEXT or self.one(node.value) is Kind.TEXT:
                return Kind.TEXT
            names, table = self.module.names(node.value), self._tables["item", "names"]
            if names and all(name in table for name in names) and not isinstance(node.indices[0], s.Slice):
                return joined(table[name] for name in names)
            return Kind.STABLE if self.of(node.value) is Kind.STABLE and node.indices else Kind.UNKNOWN
        if isinstance(node, s.Call):
            names, table = self.module.callee(node), self._tables["one", "names"]
            if names and all(name in table for name in names):
                return joined(table[name] for name in names)
            functions = [self.module.functions[name] for name in names if name in self.module.functions]
            if functions and len(functions) == len(names):
                return joined(self._given(f, self._annotated_one, self.one) for f in functions)
            if names and names <= {"builtins.tuple", "builtins.frozenset"}:
                sorts = names == {"builtins.tuple"} or self.of(node) not in SALTED
                return tuple_of([self.of(node)]) if sorts else Kind.APART
            if isinstance(node.function, s.Attribute):
                if node.function.attribute in ("join", "format") and self.one(node.function.value) is Kind.TEXT:
                    return Kind.TEXT
                if isinstance(node.function.value, s.Constant) and isinstance(node.function.value.value, str):
                    return Kind.TEXT if node.function.attribute in ("join", "format") else Kind.UNKNOWN
                return self._tables["one", "methods"].get(node.function.attribute, Kind.UNKNOWN)
        return Kind.UNKNOWN

    def _of_operation(self, node: s.Operation) -> Kind:
        if node.operator == "f-string":
            return Kind.TEXT
        if node.operator in ("<", ">", "<=", ">=", "==", "!=", "in", "not in", "is", "is not", "not", "//"):
            return Kind.STABLE
        kinds = [self.one(operand) for operand in node.operands]
        if node.operator in ("or", "and") and SALTED.intersection(kinds):
            return joined(kinds)
        if node.operator == "/" and kinds and {Kind.TEXT, Kind.PATH} & set(kinds):
            return Kind.PATH
        if node.operator in ("+", "%") and ALIKE.intersection(kinds):
            if Kind.TUPLE in kinds:
                return tuple_of(kinds)
            sure = next((kind for kind in kinds if kind in ALIKE), Kind.UNKNOWN)
            return sure if node.operator != "%" or kinds[0] is sure else Kind.UNKNOWN
        if node.operator in ("+", "-", "*", "%", "**") and kinds and Kind.IDENTITY not in kinds:
            return Kind.STABLE if all(kind is Kind.STABLE for kind in kinds) else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _bound(self, binding: Binding, node: s.Name) -> Kind:
        if binding.kind in ("for", "comprehension") and binding.value is not None:
            return self._of_items(binding.value, binding.path)
        if binding.kind in ("assign", "named") and binding.value is not None and not binding.path:
            return self.one(binding.value) if binding.value is not node else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _of_items(self, node: s.Expression, path: tuple[int, ...]) -> Kind:
        """Return the kind of a loop variable, which stands at `path` in each item."""
        if not path:
            return self.of(node) if not (isinstance(node, s.Call) and _method(node) == "items") else Kind.UNKNOWN
        if not isinstance(node, s.Call):
            return Kind.UNKNOWN
        method, names = _method(node), self.module.callee(node)
        if names == {"builtins.enumerate"} and node.arguments:
            if path[0] == 0:
                return Kind.STABLE
            return self._of_items(node.arguments[0].value, path[1:]) if path[0] == 1 else Kind.UNKNOWN
        if names == {"os.walk"}:
            return Kind.TEXT if path == (0,) else Kind.UNKNOWN
        if method.startswith("named_"):
            return Kind.TEXT if path == (0,) else Kind.IDENTITY
        if method == "items" and path == (0,) and isinstance(node.function, s.Attribute):
            return self.of(node.function.value)
        return Kind.UNKNOWN

    # Types

    def _annotated_many(self, node: s.Expression | None) -> Kind:
        """Return the kind of the items that an annotation such as `List[str]` names."""
        if not isinstance(node, s.Subscript) or not node.indices:
            if node is not None and self.module.names(node) == {"builtins.str"}:
                return Kind.TEXT
            return Kind.UNKNOWN
        names = self.module.names(node.value)
        if names & {"typing.Optional"}:
            return self._annotated_many(node.indices[0])
        if not names or not names <= self._types:
            return Kind.UNKNOWN
        return self._annotated_one(node.indices[0])

    def _annotated_one(self, node: s.Expression) -> Kind:
        if isinstance(node, s.Subscript):
            if self.module.names(node.value) & {"typing.Tuple", "builtins.tuple"}:
                parts = [part for part in node.indices if not (isinstance(part, s.Constant) and part.value is ...)]
                return tuple_of(self._annotated_one(part) for part in parts)
            return Kind.UNKNOWN
        types = self.module.types(node) if isinstance(node, s.Constant) else self.module.names(node)
        return joined(self._of_type(name) for name in types) if types else Kind.UNKNOWN

    def _of_type(self, name: str) -> Kind:
        found = self._tables["one", "types"].get(name)
        if found is not None:
            return found
        klass = self.module.classes.get(name)
        if klass is None:
            return Kind.UNKNOWN
        bases = self.module.ancestry(klass)
        hashed = any(self.module.method(klass, method) is not None for method in ("__hash__", "__eq__"))
        if "enum.Enum" in bases and not hashed:
            kinds = [self._tables["one", "types"][base] for base in bases if base in self._tables["one", "types"]]
            return kinds[0] if kinds else Kind.APART
        if hashed or klass.decorators:
            return kind_of_hash(self.module, klass, self.one, self._annotated_one)
        return Kind.IDENTITY if not klass.arguments or self.module.is_a(klass, "module") else Kind.UNKNOWN


def _method(node: s.Call) -> str:
    return node.function.attribute if isinstance(node.function, s.Attribute) else ""


def _part(binding: Binding) -> s.Expression | None:
    """Return what a name is bound to, perhaps as one element of a display; None where that is not known."""
    value = binding.value
    for step in binding.path:
        parts = value.elements if isinstance(value, s.Collection) else ()
        plain = step < len(parts) and not any(isinstance(part, s.Starred) for part in parts)
        value = parts[step] if plain else None
    return value
