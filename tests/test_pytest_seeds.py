"""Seeds that the pytest plugin sets before each test, where it is asked to."""

from __future__ import annotations

import pytest

from tests.test_pytest_plugin import run

SEEDED = """
@pytest.fixture(scope="module")
def data():
    return torch.rand(2).tolist()

def test_first(data):
    assert random.random() == random.Random(7).random()

def test_second(data):
    assert torch.rand(1).tolist() == torch.rand(1, generator=torch.Generator().manual_seed(7)).tolist()
    assert np.random.rand() == np.random.RandomState(7).rand()
    print("data:", data)

class TestCase(unittest.TestCase):
    def setUp(self):
        self.drawn = random.random()

    def test_third(self):
        assert self.drawn == random.Random(7).random()
"""


def test_a_seed_can_be_set_before_each_test_and_fixture(pytester: pytest.Pytester) -> None:
    result = run(pytester, SEEDED, "--detlint-seed=7", "-s")
    result.assert_outcomes(passed=3)
    assert "detlint: seed 7 before each test" in result.outlines
    alone = run(pytester, SEEDED, "--detlint-seed", "7", "-s", "-k", "second")
    drawn = [next(line for line in one.outlines if "data:" in line).split("data:") for one in (result, alone)]
    assert drawn[0][1] == drawn[1][1], "the fixture is first used by another test"


@pytest.mark.slow
def test_the_seed_can_stand_in_the_settings_and_the_command_line_goes_before(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndetlint_seed = 7\n")
    run(pytester, SEEDED).assert_outcomes(passed=3)
    run(pytester, SEEDED, "--detlint-seed=8").assert_outcomes(failed=3)
    text = """
    @pytest.mark.reproducible
    def test_of_the_settings():
        assert random.random() == random.Random(7).random()
        return 0

    @pytest.mark.reproducible(seed=9)
    def test_of_the_marker():
        assert random.random() == random.Random(9).random()
        return 0
    """
    run(pytester, text).assert_outcomes(passed=2)


@pytest.mark.parametrize("seed", ["x", "-1", "4294967296", "1.5"])
def test_what_is_no_seed_is_one_line(pytester: pytest.Pytester, seed: str) -> None:
    result = run(pytester, "def test(): ...", f"--detlint-seed={seed}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines == [f"ERROR: detlint_seed must be an integer from 0 to 4294967295, not '{seed}'", ""]


def test_without_an_option_nothing_is_seeded(pytester: pytest.Pytester) -> None:
    text = """
    before = random.getstate()

    def test():
        assert random.getstate() == before
    """
    result = run(pytester, text)
    result.assert_outcomes(passed=1)
    assert not any("detlint:" in line for line in result.outlines)


def test_another_plugin_that_seeds_at_the_same_time_does_not_win(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import random
        import pytest

        @pytest.hookimpl
        def pytest_runtest_setup(item):
            random.seed(1)

        @pytest.hookimpl(trylast=False)
        def pytest_runtest_call(item):
            random.seed(1)
        """
    )
    run(pytester, SEEDED, "--detlint-seed=7").assert_outcomes(passed=3)
