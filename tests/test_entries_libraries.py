"""`detlint entries`: what libraries draw from the global generators where they are given no seed, and what they make."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import told
from tests.support import report

SPLIT = "from sklearn.model_selection import train_test_split"
FOREST = "from sklearn.ensemble import RandomForestClassifier"
DATA = "from datasets import load_dataset; data = load_dataset('imdb')"
TABLE = "import pandas as pd; table = pd.read_csv('a.csv')"


def numpy(folder: Path, *lines: str) -> tuple[str, int | None]:
    """The state of numpy's generator in a program of these lines, and the line of the first draw."""
    used = "import random; random.random()"  # else it is no program
    stream = told(folder, "\n".join((*lines, used)))["generators"]["numpy"]
    return stream["state"], stream["first_draw"] and stream["first_draw"]["line"]


@pytest.mark.parametrize(
    ("before", "call"),
    [
        (SPLIT, "train_test_split([1, 2, 3])"),
        (SPLIT, "train_test_split([1, 2, 3], random_state=None)"),
        ("from scipy.stats import norm", "norm.rvs(size=3)"),
        ("from scipy.stats import norm", "norm(0, 1).rvs(3)"),
        (TABLE, "table.sample(3)"),
        (TABLE, "table[table.x > 0].dropna().sample(frac=1)"),
        (TABLE, "table.loc[table.x > 0].sample(frac=1)"),
        (TABLE, "table.groupby('x').y.sample(1)"),
        (DATA, "data['train'].shuffle()"),
        (DATA, "data['train'].filter(print).map(print).shuffle()"),
        (DATA, "data['train'].train_test_split(0.2, seed=1)['train'].shuffle()"),
        ("import datasets", "datasets.Dataset.from_dict({}).train_test_split(0.2)"),
    ],
)
def test_a_call_without_a_seed_draws_from_the_global_generator(tmp_path: Path, before: str, call: str) -> None:
    assert numpy(tmp_path, before, call) == ("unseeded", 2)


@pytest.mark.parametrize(
    ("before", "call"),
    [
        (SPLIT, "train_test_split([1, 2, 3], random_state=1)"),
        (SPLIT, "train_test_split([1, 2, 3], shuffle=False)"),
        (SPLIT, "train_test_split([1, 2, 3], **options)"),
        ("from scipy.stats import norm", "norm.rvs(0, 1, 3, 4, 5)"),
        (TABLE, "table.sample(3, random_state=1)"),
        (TABLE, "table.sample(3, None, False, None, 1)"),
        (DATA, "data['train'].shuffle(1)"),
        (DATA, "data['train'].shuffle(seed=1)"),
        (DATA, "data['train'].map(print)"),
        ("from datasets import load_dataset", "load_dataset('imdb', streaming=True).shuffle()"),
        ("import mine", "mine.read_csv('a.csv').sample()"),
    ],
)
def test_a_call_with_a_seed_of_its_own_or_that_shuffles_nothing_draws_nothing(
    tmp_path: Path, before: str, call: str
) -> None:
    assert numpy(tmp_path, before, call) == ("unused", None)


def test_a_project_of_the_name_of_a_library_is_another_thing(tmp_path: Path) -> None:
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "model_selection.py").write_text("def train_test_split(x):\n    return x\n")
    assert numpy(tmp_path, SPLIT, "train_test_split([1, 2, 3])") == ("unused", None)


@pytest.mark.parametrize(
    ("lines", "state", "line"),
    [
        (("model = RandomForestClassifier()", "model.predict(x)"), "unused", None),
        (("model = RandomForestClassifier()", "model.fit(x, y)"), "unseeded", 4),
        (("model = RandomForestClassifier()", "numpy.random.seed(0)", "model.fit(x, y)"), "seeded", 5),
        (("model = RandomForestClassifier(random_state=0)", "model.fit(x, y)"), "unused", None),
        (("model = RandomForestClassifier()", "model.set_params(random_state=0)", "model.fit(x, y)"), "unused", None),
        (("model = RandomForestClassifier()", "model.random_state = 0", "model.fit(x, y)"), "unused", None),
        (("model = RandomForestClassifier()", "model.set_params(**options)", "model.fit(x, y)"), "unused", None),
    ],
)
def test_an_estimator_draws_when_it_is_fitted(
    tmp_path: Path, lines: tuple[str, ...], state: str, line: int | None
) -> None:
    assert numpy(tmp_path, f"import numpy; {FOREST}", "x = y = []", *lines) == (state, line)


@pytest.mark.parametrize(
    "lines",
    [
        ("from sklearn.model_selection import GridSearchCV", "GridSearchCV(model, {'max_depth': [1]}).fit(x, y)"),
        ("from sklearn.pipeline import Pipeline", "Pipeline([('scale', None), ('model', model)]).fit(x, y)"),
        ("from sklearn.pipeline import make_pipeline", "make_pipeline(None, model).fit(x, y)"),
        ("from sklearn.model_selection import cross_val_score", "cross_val_score(model, x, y)"),
        ("from sklearn.base import clone", "clone(model).fit(x, y)"),
    ],
)
def test_what_holds_an_estimator_draws_by_it(tmp_path: Path, lines: tuple[str, str]) -> None:
    text = (FOREST, "x = y = []; model = RandomForestClassifier({})", *lines)
    (tmp_path / "seeded").mkdir()
    assert numpy(tmp_path, *(line.format("") for line in text[:2]), *lines) == ("unseeded", 4)
    assert numpy(tmp_path / "seeded", text[0], text[1].format("random_state=0"), *lines) == ("unused", None)


def test_nested_parameters_may_seed_what_is_held(tmp_path: Path) -> None:
    lines = ("pipe.set_params(model__random_state=1)", "pipe.fit([], [])")
    made = "pipe = Pipeline([('model', RandomForestClassifier())])"
    assert numpy(tmp_path, FOREST, "from sklearn.pipeline import Pipeline", made, *lines) == ("unused", None)


def test_folds_and_samples_of_parameters_draw_when_they_are_gone_through(tmp_path: Path) -> None:
    found = numpy(
        tmp_path,
        "from sklearn.model_selection import KFold, ParameterSampler",
        "folds = KFold(5, shuffle=True); plain = KFold(5)",
        "sampler = ParameterSampler({}, 3)",
        "for part in plain.split([]): pass",
        "for part in sampler: pass",
        "for part in folds.split([]): pass",
    )
    assert found == ("unseeded", 5)


def test_a_seed_after_the_draw_is_late(tmp_path: Path) -> None:
    lines = (f"import numpy; {SPLIT}", "train_test_split([1, 2, 3])", "numpy.random.seed(0)")
    stream = told(tmp_path, "\n".join(lines))["generators"]["numpy"]
    assert (stream["state"], stream["seed_after_draw"]["line"]) == ("late", 3)


@pytest.mark.parametrize(
    ("rest", "codes"),
    [
        ("", [("DET107", 2)]),
        ("np.random.seed(0)", [("DET107", 2)]),
        ("print(np.random.rand())", [("DET107", 2), ("DET102", 3)]),
        ("print(np.random.rand())\nnp.random.seed(0)", [("DET107", 2), ("DET106", 4)]),
    ],
)
def test_one_draw_is_one_finding(rest: str, codes: list[tuple[str, int]]) -> None:
    text = f"import numpy as np; {SPLIT}\nprint(train_test_split([1, 2, 3]))\n{rest}\n"
    found = report({"train.py": textwrap.dedent(text)}, ("DET1",)).findings
    assert [(judged.rule.code, judged.finding.place.line) for judged in found] == codes


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("vision_transformer.vit_small_patch16_224(img_size=256)", "unseeded"),
        ("resnet18()", "unseeded"),
        ("resnet.resnet18(False)", "unseeded"),
        ("efficientnet.efficientnet_b0(pretrained=False)", "unseeded"),
        ("create_model('resnet18', False)", "unseeded"),
        ("create_model('resnet18', True)", "unused"),
        ("resnet.resnet18(True)", "unused"),
        ("resnet18(pretrained=True)", "unused"),
        ("list_models()", "unused"),
        ("efficientnet.checkpoint_filter_fn({}, None)", "unused"),
        ("helpers.resume_checkpoint(None, 'a.pt')", "unused"),
    ],
)
def test_the_functions_of_timm_that_make_models_draw_their_weights(tmp_path: Path, call: str, state: str) -> None:
    lines = "import random, timm.models", f"timm.models.{call}; random.random()"
    assert told(tmp_path, "\n".join(lines))["generators"]["torch"]["state"] == state


def test_a_stateful_loader_is_a_loader_that_shuffles_by_a_seed_that_torch_gives(tmp_path: Path) -> None:
    entry = told(
        tmp_path,
        """
        import random
        from torchdata.stateful_dataloader import StatefulDataLoader

        class Flipped:
            def __getitem__(self, index):
                return random.random()

        for batch in StatefulDataLoader(Flipped(), shuffle=True, worker_init_fn=print):
            print(batch)
        """,
    )
    assert entry["loaders"] == {"total": 1, "with_generator": 0, "with_worker_init": 1}
    assert entry["generators"]["torch"]["state"] == "unseeded"
    assert (entry["generators"]["python"]["state"], entry["generators"]["python"]["first_draw"]["line"]) == (
        "unseeded",
        6,
    )
