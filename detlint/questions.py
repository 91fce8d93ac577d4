"""Open questions: what a finding leaves for the programs of its project to answer. Pure data, picklable."""

from __future__ import annotations

from detlint.places import Place
from detlint.support.records import record


@record(frozen=True, slots=True)
class Carrier:
    """What carries a value from one function to another.

    `kind` is "parameter": the parameter `part` of the function `name`, or where a caller does not know its name, the
    one at a position such as "#0"; "result": what the function returns; "attribute": `part` of objects of the class
    `name`; "variable": a variable of a module; "class": the class itself. `path` leads to the value inside these, step
    by step: "entry:train", "item:0", "item:" (any item), "attribute:files". With `EACH`, the value is what a parameter
    receives one item at a time, one at each call.
    """

    kind: str
    name: str
    part: str = ""
    path: tuple[str, ...] = ()


EACH = "each:"
SORTED = "sorted"
DERIVES = "derives"
ITERATED, CALLED = "__iter__", "__call__"
"""Methods whose results come from an object that is iterated over, or called."""


@record(frozen=True, slots=True)
class Flow:
    """What happens to the order of what `source` holds, at `place`.

    `kind` is a kind of `Leak`, or "sorted": the order is fixed from there on. `target` is what carries the order on.
    For a class that "derives" from another, `target` is that base class. The flow exists only if the functions that
    take the parameters `through` which it passes return them.
    """

    source: Carrier
    place: Place
    kind: str
    target: Carrier | None = None
    through: tuple[Carrier, ...] = ()


@record(frozen=True, slots=True)
class Unseeded:
    """An open question: is `generator` unseeded when a program reaches `order` in `function`?

    With `always`: in every program that gets there; with `lasting`: also at the end of the program, since what is made
    there draws later. `generator` is "torch", "numpy" or "python"; `function` is a qualified name in the file at
    `path`, "" for its top level; `order` is the position of the node in evaluation order. With `exact`, only states at
    the node itself count, and none from right before it, as the node may be a call under a test.
    """

    generator: str
    path: str
    function: str
    order: int
    always: bool = False
    lasting: bool = False
    exact: bool = False


@record(frozen=True, slots=True)
class Seedless:
    """An open question: does a program pass None for `parameter` of the call at `place`, options at their defaults?"""

    place: Place
    parameter: str


@record(frozen=True, slots=True)
class NeverSeeded:
    """An open question: does a program draw from what the call at `order` makes, and never seed it?

    The call makes an object of a library with its own generator, which the row `row` describes. `alone` is the answer
    where no program reaches the call.
    """

    path: str
    order: int
    row: str
    alone: bool = False


@record(frozen=True, slots=True)
class Copied:
    """An open question: do the workers of a loader draw from copies of the generator that the call at `order` makes?

    The generator is made before the workers start, and nothing in them seeds it or puts another one in its place. With
    `none`, programs draw from it, but no worker of theirs does.
    """

    path: str
    order: int
    none: bool = False


@record(frozen=True, slots=True)
class Forgotten:
    """An open question: does a program that restores an optimizer step what the call at `order` makes, and not restore
    that? `late`: is it made on that optimizer after that?
    """

    path: str
    order: int
    row: str
    late: bool = False


@record(frozen=True, slots=True)
class Restores:
    """An open question: does a program that restores an optimizer restore the state of a class's objects as well?

    With `runs`: does it run a function, or the top level of a file?
    """

    path: str
    qualified: str
    runs: bool = False


@record(frozen=True, slots=True)
class Reseeded:
    """An open question: does a program seed a generator whose state one of these calls has put back, before it draws,
    and no file of it seed by the progress of the training?
    """

    places: tuple[Place, ...]


@record(frozen=True, slots=True)
class Meets:
    """An open question: do the arguments of the call at `place` meet the conditions of a row, options at defaults?"""

    place: Place
    row: str


@record(frozen=True, slots=True)
class Races:
    """An open question: do threads that the call at `place` starts draw from a seeded generator that others draw from:
    more of these threads, or the program after the call?
    """

    place: Place


@record(frozen=True, slots=True)
class UnseededLibrary:
    """An open question: does what a `library` draws at `order` in `function` come from entropy?

    Yes where a program gets there with all of these global generators unseeded; with `lasting`, a program must also end
    so. Without generators: yes unless the project has a module of the library's name. `drawn` is the name of what
    draws, where seeding these generators is enough to make it repeat. For functions that the settings register,
    `parameter` takes the seed, and `placed` arguments are given by position: no if the seed may be one of these or has
    a default. With `given`: no unless that question is answered with yes, too.
    """

    library: str
    generators: tuple[str, ...]
    path: str
    function: str
    order: int
    lasting: bool = False
    drawn: str = ""
    parameter: str = ""
    placed: int = 0
    given: Seedless | None = None


@record(frozen=True, slots=True)
class InForce:
    """An open question: is `switch` in one of the states `words` in every program that reaches `order` in `function`?

    Where no program gets there, the answer is yes if the code right before sets the switch (`local`). Otherwise the end
    states of the programs that import the file count, those that train before others; if there are none, the answer is
    `alone`, which the file gives by itself. With `ever`, these end states count in any case.
    """

    switch: str
    words: tuple[str, ...]
    path: str
    function: str
    order: int
    alone: bool = False
    ever: bool = False
    local: bool = False


@record(frozen=True, slots=True)
class Ends:
    """An open question: does every program that sets a switch at `place` end with `switch` in one of `words`?

    With `some`: does any program that sets it so there, with its options at their defaults? With `spawned`: does a
    process that such a program spawns train, and end with it in none of them? Where no program gets there, the answer
    is `alone`.
    """

    switch: str
    words: tuple[str, ...]
    place: Place
    alone: bool = False
    some: bool = False
    spawned: bool = False


@record(frozen=True, slots=True)
class InLibrary:
    """An open question: is `function` code that other programs import, whose randomness is up to its users?

    With a `generator`: yes unless the project's own programs reach `order` only before they have seeded it. Without
    one: yes unless one of them reaches the function at all.
    """

    path: str
    function: str
    order: int
    generator: str = ""


@record(frozen=True, slots=True)
class FromEntropy:
    """An open question: does the call at `place`, or what it calls, seed a global generator with entropy by default?

    With `given`: is that call given entropy as a seed, even for a generator of its own? With `always`: yes only if no
    option gives another seed.
    """

    place: Place
    given: bool = False
    always: bool = False


@record(frozen=True, slots=True)
class InTraining:
    """An open question: does a program, by the call at `place`, run a model that draws as it does only in training?

    Nothing may have put a model into evaluation mode before. The call is of the model itself, or of the method named
    `method`. `idle` asks for a program that trains nothing and takes its weights from a file.
    """

    place: Place
    method: str = ""
    idle: bool = False


@record(frozen=True, slots=True)
class Reaches:
    """An open question: does the arbitrary order of what `carriers` hold reach a use of one of the `kinds`?

    `path` is the file that uses these names for the carriers. With `apart`, what that file itself does with them does
    not count; with `anyhow`, the answer is also yes if no other file imports it. `flows` are what that file does with
    the results of other files' functions, each valid only if these functions return what they are given.
    """

    carriers: tuple[Carrier, ...]
    kinds: tuple[str, ...]
    path: str
    apart: bool = False
    anyhow: bool = False
    flows: tuple[Flow, ...] = ()


@record(frozen=True, slots=True)
class Unfilled:
    """An open question: is memory that `carrier` holds read, although nothing in the whole project may write to it?

    `path` is the file that uses this name for the carrier. For an attribute, `kept` says how a module keeps it: as a
    "parameter" or as a "buffer", both of which checkpoints contain, or "" as any other value. `at` is where it is
    stored in the attribute. With `emptied`, the memory is filled at first, and a program has to empty its model. With
    `self_made`, the class gives its other weights values where it makes them.
    """

    carrier: Carrier
    path: str
    kept: str = ""
    at: Place | None = None
    emptied: bool = False
    self_made: bool = False


@record(frozen=True, slots=True)
class Taken:
    """An open question: does a program take the branch at `place` in `function`, options at their defaults?

    Yes where no program reaches the function. For a branch that a name chooses (`named`), with any options.
    """

    place: Place
    path: str
    function: str
    named: bool = False


@record(frozen=True, slots=True)
class InProgram:
    """An open question: does a program, other than a test or one that only tries out a file, reach the file at `path`?

    With `learning`: does a program reach it that takes gradients, or none at all? For a file that is run itself, only
    this file counts, unless gradients may be taken `anywhere` in what it loads. With a `function`: does a program also
    call that? With `taken`: is that question also answered with yes? With `names`: do other files that programs may
    load mention each of these? With `inputs`: does a module of another file hold an object of one of these classes?
    With `on_gpu`: does one of the programs that load the file speak of a GPU?
    """

    path: str
    learning: bool = False
    function: str = ""
    anywhere: bool = False
    taken: Taken | None = None
    names: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = None
    on_gpu: bool = False


@record(frozen=True, slots=True)
class SameOrder:
    """An open question: does a program train in every epoch with a sampler that nothing in it may tell the epoch?

    The call at `order` makes the sampler, or the sampler is of the class `qualified`, which has an order of its own
    where these `flags` among its attributes are set.
    """

    path: str
    order: int = 0
    qualified: str = ""
    flags: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Resumes:
    """An open question: does a program with the file at `path` resume from what it saves there, its generators lost?

    Such a program trains and takes an optimizer's state out of a checkpoint by one of `keys`, and none of its files
    handles states of generators or seeds anew in each epoch. Where the file itself is `known` to resume, the answer is
    yes if no program with it has a file that both saves and restores states. It is no where a program gets to the
    `function` that saves, and no other file mentions the names of what is `resuming`.
    """

    path: str
    keys: tuple[str, ...]
    known: bool = False
    function: str = ""
    resuming: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class DrawsInTraining:
    """An open question: does a program with the file at `path` draw random numbers, other than weights, and train?

    With a `generator`, the numbers come from that one, whose states programs keep. `alone` is the answer if no program
    has the file.
    """

    path: str
    generator: str = ""
    alone: bool = False


@record(frozen=True, slots=True)
class Loses:
    """An open question: does a program that trains and resumes, with the file at `path`, lose a generator's state?

    `how` is "saved" for a state that the file saves: nothing in the project may restore it; "restored": nothing may
    save it; "left": no file of the program keeps it, and the program draws from the generator.
    """

    path: str
    generator: str
    how: str


@record(frozen=True, slots=True)
class Convolves:
    """An open question: where it reaches `place`, does a seeded program train convolutions that need not repeat?

    The program seeds torch's generator, and the gradients of its convolutions need not repeat. No where cuDNN's own
    switch, or that for deterministic algorithms, is on at the end; with `untouched`, where the program sets either.
    Where no program reaches `place` in `function`, the answer is `alone` if the file is a library's. With `perhaps`:
    may a program convolve that sets a switch at `place`? No if all of them train, and use nothing that may.
    """

    path: str
    function: str
    place: Place
    untouched: bool = False
    alone: bool = False
    perhaps: bool = False


Question = (
    Unseeded | UnseededLibrary | InForce | Ends | InLibrary | FromEntropy | InTraining | Taken | InProgram
    | SameOrder | Reaches | Unfilled | Resumes | DrawsInTraining | Loses | Seedless | NeverSeeded | Copied
    | Forgotten | Reseeded | Restores | Meets | Races | Convolves
)  # fmt: skip
