"""The pytest plugin, driven by pytest on small projects: marked tests are run again and compared bit for bit."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.support import PYTEST_PLUGIN

torch = pytest.importorskip("torch")  # also because pytester forgets what is imported within its runs
pytest.importorskip("numpy")

pytestmark = pytest.mark.slow


def run(pytester: pytest.Pytester, text: str, *arguments: str) -> pytest.RunResult:
    """A run of pytest in this process on one file of tests, with warnings as errors."""
    imports = "import random\nimport unittest\nimport numpy as np\nimport pytest\nimport torch\n"
    pytester.makepyfile(imports + dedent(text))
    return pytester.runpytest_inprocess(*PYTEST_PLUGIN, "-Werror", "-pno:randomly", *arguments)


def failure(result: pytest.RunResult, name: str) -> list[str]:
    """The lines that a run shows of a test that failed."""
    lines = [line.rstrip() for line in result.outlines]
    start = next(i for i, line in enumerate(lines) if line.strip("_ ") == name)
    end = next(i for i, line in enumerate(lines) if i > start and line[:3] in ("___", "===", "---"))
    return lines[start + 1 : end]


def test_what_draws_from_global_generators_repeats(pytester: pytest.Pytester) -> None:
    text = """
    @pytest.mark.reproducible
    def test_drawn():
        model = torch.nn.Linear(3, 2)
        return {"model": model, "python": random.random(), "numpy": np.random.rand(2), "torch": torch.rand(2)}
    """
    run(pytester, text).assert_outcomes(passed=1)


def test_the_first_difference_is_named_and_what_may_have_caused_it(pytester: pytest.Pytester) -> None:
    text = """
    drawn = []

    @pytest.fixture(scope="module")
    def scale():
        return 1.0

    @pytest.mark.reproducible
    def test_drift(reproducible, scale):
        drawn.append(np.random.rand(len(drawn)))
        weights = torch.ones(2, 3)
        reproducible.record("same", weights)
        weights[1, 2] += 2**-23 * len(drawn)
        reproducible.record("model", {"weights": [weights]})
        return "last" if len(drawn) == 1 else "least"
    """
    result = run(pytester, text)
    result.assert_outcomes(failed=1)
    assert failure(result, "test_drift") == [
        "not reproducible: model['weights'][0][1, 2] differs between run 1 and run 2, both from seed 0",
        "    run 1  1.00000012",
        "    run 2  1.00000024",
        "    1 ULP apart; 1 of 6 elements differ in a float32 tensor of shape (2, 3) on cpu",
        "also different: result",
        "run 2 drew from NumPy otherwise than run 1, which began in the same state",
        "shared by the runs, so not fresh: `scale` (module)",
        "try: detlint .  (names the lines of the project that make runs differ)",
    ]


def test_where_both_runs_drew_alike_the_cause_is_said_to_be_elsewhere(
    pytester: pytest.Pytester,
) -> None:
    text = """
    @pytest.mark.reproducible
    def test_own_generator():
        torch.rand(1)
        return np.random.default_rng().random()

    @pytest.mark.reproducible
    def test_no_generator():
        return object.__hash__(object())  # of an address

    kept = []

    @pytest.mark.reproducible
    def test_count():
        kept.append(0)
        return len(kept)
    """
    result = run(pytester, text)
    assert "both runs drew alike from torch, by the states that they left: look elsewhere" in result.outlines
    assert failure(result, "test_count")[3:] == [
        "neither run drew from a global generator",
        "try: detlint .  (names the lines of the project that make runs differ)",
    ]


def test_fixtures_of_a_test_are_made_for_each_run_and_those_of_its_module_once(pytester: pytest.Pytester) -> None:
    text = """
    events = []

    @pytest.fixture(scope="module", autouse=True)
    def of_module():
        events.append("module")
        yield random.random()
        events.append("end of module")

    @pytest.fixture
    def of_test():
        events.append("test")
        yield torch.rand(2)
        events.append("end of test")

    class TestGroup:
        @pytest.mark.reproducible(runs=3)
        @pytest.mark.parametrize("size", [1, 2])
        def test_run(self, of_test, size, tmp_path):
            assert not vars(self) and not list(tmp_path.iterdir())
            self.state = (tmp_path / "state").write_text("")
            events.append(f"run {size}")
            return of_test

    def test_events():
        once = ["test", "run {}", "end of test"]
        assert events == ["module", *(word.format(size) for size in (1, 2) for _ in range(3) for word in once)]
    """
    result = run(pytester, text, "-v")
    result.assert_outcomes(passed=3)
    assert len([line for line in result.outlines if "PASSED" in line]) == 3


def test_a_fixture_draws_alike_whichever_fixtures_are_there_already(pytester: pytest.Pytester) -> None:
    text = """
    @pytest.fixture(scope="module")
    def data():
        return torch.rand(2)

    @pytest.fixture
    def noise(data):
        return torch.rand(2)

    @pytest.mark.reproducible
    def test_fixtures(noise, request):
        first = torch.rand(2)
        assert not torch.equal(noise, request.getfixturevalue("data"))
        return noise, first

    @pytest.fixture(scope="module")
    def late():
        return torch.rand(2)

    @pytest.mark.reproducible
    def test_late_fixture(request):
        return torch.rand(2), request.getfixturevalue("late"), torch.rand(2)
    """
    run(pytester, text).assert_outcomes(passed=2)


def test_test_cases_of_unittest_are_run_again(pytester: pytest.Pytester) -> None:
    text = """
    class TestModel(unittest.TestCase):
        runs = 0

        @pytest.fixture(autouse=True)
        def recorder(self, reproducible):
            self.record = reproducible.record

        def setUp(self):
            assert not hasattr(self, "drawn")
            self.drawn = torch.rand(2)
            type(self).runs += 1

        @pytest.mark.reproducible
        def test_same(self):
            self.record("drawn", self.drawn)

        @pytest.mark.reproducible
        def test_differs(self):
            self.record("runs", self.runs)

        @pytest.mark.reproducible
        def test_fails(self):
            self.record("runs", self.runs)
            self.fail("for a reason of its own")
    """
    result = run(pytester, text)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*: runs differs between run 1 and run 2*", "*AssertionError: for a reason of its own"]
    )


def test_a_run_that_fails_or_is_skipped_is_the_last(pytester: pytest.Pytester) -> None:
    text = """
    runs = []

    @pytest.fixture(scope="module")
    def broken():
        yield
        assert not runs, "in the end of the module's fixture"

    @pytest.mark.reproducible
    def test_fails(broken):
        runs.append("fails")
        print("printed by the first run")
        assert runs == []

    @pytest.mark.reproducible
    def test_skipped():
        runs.append("skipped")
        pytest.skip()

    @pytest.mark.reproducible
    def test_fails_later():
        runs.append("fails later")
        print(f"printed by run {runs.count('fails later')}")
        assert runs.count("fails later") == 1
        return 0

    def test_runs():
        assert runs == ["fails", "skipped", "fails later", "fails later"]
    """
    result = run(pytester, text)
    result.assert_outcomes(passed=1, failed=2, skipped=1, errors=1)
    assert "not reproducible: run 2 fails, and what came before it passed, all from seed 0" in result.outlines
    assert "printed by run 2" in result.outlines
    assert "printed by run 1" not in result.outlines
    result.stdout.fnmatch_lines(["*in the end of the module's fixture*"])


def test_the_end_of_fixtures_of_wider_scope_is_reported_after_a_first_run_that_fails(
    pytester: pytest.Pytester,
) -> None:
    text = """
    @pytest.fixture(scope="module")
    def broken():
        yield
        raise OSError("at the end of the module")

    @pytest.mark.reproducible
    def test_fails(broken):
        assert False
    """
    result = run(pytester, text)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_fails*", "*OSError: at the end of the module"])


def test_a_difference_can_be_expected(pytester: pytest.Pytester) -> None:
    text = """
    runs = []

    @pytest.mark.xfail(strict=True, reason="not reproducible yet")
    @pytest.mark.reproducible
    def test_expected():
        runs.append(0)
        return len(runs)

    @pytest.mark.xfail(strict=True, reason="not reproducible yet")
    @pytest.mark.reproducible
    def test_mended():
        return 0
    """
    result = run(pytester, text)
    result.assert_outcomes(xfailed=1, failed=1)
    assert "[XPASS(strict)] not reproducible yet" in result.outlines
    assert "run 2 fails" not in result.stdout.str()


def test_values_are_compared_by_name_and_in_order(pytester: pytest.Pytester) -> None:
    text = """
    runs = {}

    @pytest.fixture
    def number(request):
        runs[request.node.name] = runs.get(request.node.name, 0) + 1
        return runs[request.node.name]

    @pytest.mark.reproducible
    def test_more(reproducible, number):
        for step in range(number + 1):
            reproducible.record("loss", step)

    @pytest.mark.reproducible
    def test_less(reproducible, number):
        for step in range(3 - number):
            reproducible.record("loss", step)

    @pytest.mark.reproducible
    def test_order(reproducible, number):
        for name in ("a", "b") if number == 1 else ("b", "a"):
            reproducible.record(name, 0)

    @pytest.mark.reproducible
    def test_in_place(reproducible, number):
        total = torch.zeros(1)
        reproducible.record("total", total)
        total += number
    """
    result = run(pytester, text)
    result.assert_outcomes(passed=1, failed=3)
    assert failure(result, "test_more")[:4] == [
        "not reproducible: loss#3 differs between run 1 and run 2, both from seed 0",
        "    run 1  nothing of that name",
        "    run 2  2, int",
        "run 1 recorded 2 values, run 2 3",
    ]
    assert failure(result, "test_less")[:4] == [
        "not reproducible: loss#2 differs between run 1 and run 2, both from seed 0",
        "    run 1  1, int",
        "    run 2  nothing of that name",
        "run 1 recorded 2 values, run 2 1",
    ]
    assert failure(result, "test_order")[:3] == [
        "not reproducible: the order differs between run 1 and run 2, both from seed 0",
        "    run 1  a comes first",
        "    run 2  b comes first",
    ]


def test_what_compares_nothing_or_asks_for_nonsense_fails(pytester: pytest.Pytester) -> None:
    text = """
    @pytest.mark.reproducible
    def test_nothing():
        pass

    def test_not_marked(reproducible):
        reproducible.record("loss", 1.0)

    @pytest.mark.reproducible
    def test_no_bits():
        return {"model": [object()]}

    @pytest.mark.reproducible
    def test_no_bits_recorded(reproducible):
        reproducible.record('data', iter([]))

    @pytest.mark.reproducible
    async def test_coroutine():
        return 1

    @pytest.mark.reproducible(times=3)
    def test_unknown(): ...

    @pytest.mark.reproducible(runs=1)
    def test_once(): ...

    @pytest.mark.reproducible(seed=-1)
    def test_negative(): ...

    @pytest.mark.reproducible(hash_seeds=(0, 1))
    def test_hashes(): ...

    @pytest.mark.reproducible(processes=True, hash_seeds=[0])
    def test_one_hash(): ...
    """
    result = run(pytester, text)
    result.assert_outcomes(failed=5, errors=5)
    for line in (
        "nothing to compare: let the test return a value, or record one with the fixture `reproducible`",
        "E       RuntimeError: nothing is compared in this test: mark it with @pytest.mark.reproducible",
        "result['model'][0] is an object, which has no bits to compare: record the numbers in it",
        "IncomparableError: data is a list_iterator, which has no bits to compare: record the numbers in it",
        "async def functions are not natively supported",
        "@pytest.mark.reproducible: times is none of its options, which are runs, seed, processes, hash_seeds",
        "@pytest.mark.reproducible: runs must be an integer from 2 to 4294967295, not 1",
        "@pytest.mark.reproducible: seed must be an integer from 0 to 4294967295, not -1",
        "@pytest.mark.reproducible: hash_seeds needs processes=True: Python reads PYTHONHASHSEED when it starts",
        "@pytest.mark.reproducible: hash_seeds must be a list of at least two integers, one for each run, not runs",
    ):
        assert line in result.stdout.str()
    assert "detlint/plugins" not in result.stdout.str(), "tracebacks end in the test"


def test_a_function_can_be_run_again_within_a_test(pytester: pytest.Pytester) -> None:
    text = """
    def test_same(reproducible):
        before = torch.get_rng_state()
        assert reproducible(lambda: torch.rand(2), seed=3).tolist() == torch.rand(2, generator=seeded(3)).tolist()
        assert torch.equal(torch.get_rng_state(), before)

    def seeded(seed):
        return torch.Generator().manual_seed(seed)

    def test_differs(reproducible):
        runs = []

        def train():
            runs.append(0)
            reproducible.record("runs", len(runs))

        reproducible(train)

    @pytest.mark.reproducible
    def test_both(reproducible):
        reproducible.record("first", 1)
        reproducible(lambda: reproducible.record("second", 2), runs=3)
        reproducible.record("third", 3)
    """
    result = run(pytester, text)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["> *reproducible(train)", "E *not reproducible: runs differs between run 1 and run 2, both from seed 0"]
    )


def test_other_tests_draw_as_if_the_marked_one_were_not_there(pytester: pytest.Pytester) -> None:
    text = """
    def states():
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    before = states()

    @pytest.mark.reproducible
    def test_marked():
        return random.random(), np.random.rand(), torch.rand(1)

    def test_streams():
        assert states() == before
    """
    run(pytester, text).assert_outcomes(passed=2)
