"""`detlint entries`: what was once told wrong of programs, one case for each."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project import told

PICK = """
    import argparse, os, random
    import torch


    def pick(seed=None):
        try:
            {}
        except (TypeError, ValueError):
            torch.rand(1)
        return seed


    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--other", type=int)
    args = parser.parse_args()
    print(pick({}))
    torch.manual_seed(0)
    print(torch.rand(1))
    """


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("seed = int(seed)", "42"),
        ("seed = int(seed)", "'42'"),
        ("seed = int(seed)", "args.seed"),
        ("seed = float(str(seed))", "42"),
        ("int(seed)", "42"),
        ("lowest = 0; seed = int(seed)", "42"),
        ("seed = int(os.environ.get('SEED', '7'))", ""),
        ("""if seed is None:
                seed = os.environ.get("SEED", 7)
            seed = int(seed)""", "42"),
        ("""if seed is None:
                seed = os.environ.get("SEED", 7)
            seed = int(seed)""", ""),
    ],
)  # fmt: skip
def test_a_conversion_of_what_is_a_number_does_not_fail(tmp_path: Path, body: str, given: str) -> None:
    torch = told(tmp_path, PICK.format(body, given))["generators"]["torch"]
    assert (torch["state"], torch["first_draw"]["line"]) == ("seeded", torch["seeds"][0]["line"] + 1)


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("seed = int(seed)", "'many'"),
        ("seed = int(seed)", "os.getpid()"),
        ("seed = int(seed)", "args.other"),
        ("seed = int(seed)", "None"),
        ("seed = int(open('seed').read())", "1"),
        ("seed = int(seed); print(seed)", "1"),
        ("seed = args.seed", "1"),
        ("seed = int(seed); unknown()", "1"),
    ],
)
def test_what_may_fail_may_be_handled(tmp_path: Path, body: str, given: str) -> None:
    torch = told(tmp_path, PICK.format(body, given))["generators"]["torch"]
    assert torch["state"] == "late"


PROPERTY = """
    import torch


    class Base:
        def __init__(self):
            self._held = None

        @property
        def held(self):
            return self._held

        @held.setter
        def held(self, new):
            {}
            self._held = new

        @held.deleter
        def held(self):
            self._held = None


    class Derived(Base):
        pass


    class Item:
        def draw(self):
            return torch.rand(3)


    it = {}()
    {}
    it.held.draw()
    """


@pytest.mark.parametrize("kind", ["Base", "Derived"])
@pytest.mark.parametrize("given", ["it.held = Item()", "setattr(it, 'held', Item())"])
def test_a_property_is_set_by_its_setter(tmp_path: Path, kind: str, given: str) -> None:
    torch = told(tmp_path, PROPERTY.format("torch.manual_seed(1)", kind, given))["generators"]["torch"]
    assert (torch["state"], torch["first_draw"]["what"]) == ("seeded", "torch.rand")
    assert told(tmp_path, PROPERTY.format("pass", kind, given))["generators"]["torch"]["state"] == "unseeded"


def test_what_a_setter_keeps_elsewhere_may_be_what_the_property_is(tmp_path: Path) -> None:
    program = PROPERTY.replace("return self._held", "return registry.find(self)").format(
        "pass", "Base", "it.held = Item()"
    )
    assert told(tmp_path, program)["generators"]["torch"]["first_draw"]["what"] == "torch.rand"


TRAINER = """
    import argparse, inspect, itertools, os
    import torch


    class Trainer:
        def __init__(self, deterministic=False, epochs=1):
            torch.backends.cudnn.deterministic = deterministic


    def extended(**kwargs):
        return dict(list(env.items()) + list(kwargs.items()))


    env = {{name: os.environ[name] for name in ("deterministic",) if name in os.environ}}
    parser = argparse.ArgumentParser()
    parser.add_argument("--deterministic", type=bool, default=True)
    parser.add_argument("--rate", type=float, default=0.1)
    args = parser.parse_args()
    params = vars(args)
    names = ["deterministic", "epochs"]
    {}
    Trainer(**chosen)
    torch.rand(1)
    """


@pytest.mark.parametrize(
    "chosen",
    [
        "chosen = {n: params[n] for n in inspect.signature(Trainer.__init__).parameters if n in params}",
        "chosen = {n: params[n] for n in inspect.signature(Trainer).parameters if n in params}",
        "valid = set(inspect.signature(Trainer).parameters.keys())\n    "
        "chosen = {n: params[n] for n in valid if n in params}",
        "spec = inspect.getfullargspec(Trainer.__init__).args\n    chosen = {n: params[n] for n in spec if n in params}",
        "chosen = {k: v for k, v in vars(args).items() if k in names}",
        "chosen = {k: v for k, v in params.items() if v is not None and k != 'rate'}",
        "chosen = {k: params[k] for k in params if k in inspect.signature(Trainer).parameters}",
        "chosen = {n: getattr(args, n) for n in names if hasattr(args, n)}",
        "chosen = {k: v for k, v in {'deterministic': True, 'rate': 1}.items() if k in names}",
        "chosen = extended(deterministic=True)",
        "old = {'deterministic': False}\n    chosen = {**old, 'deterministic': True}",
        "chosen = dict(itertools.chain({'epochs': 2}.items(), {'deterministic': True}.items()))",
    ],
)
def test_arguments_that_are_filtered_or_merged_keep_their_names(tmp_path: Path, chosen: str) -> None:
    assert told(tmp_path, TRAINER.format(chosen))["cudnn_deterministic"]["state"] == "on"


@pytest.mark.parametrize(
    "chosen",
    [
        "chosen = {k: v for k, v in params.items() if k == 'rate'}",
        "chosen = {k: v for k, v in params.items() if k not in ('deterministic',)}",
        "chosen = {f'{k}_': v for k, v in params.items()}",
    ],
)
def test_arguments_that_are_filtered_out_are_not_given(tmp_path: Path, chosen: str) -> None:
    assert told(tmp_path, TRAINER.format(chosen))["cudnn_deterministic"]["state"] == "off"


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("from torchvision.models import ResNet\nResNet(block, [2])", "torchvision.models.ResNet"),
        ("from torchvision.models.inception import Inception3\nInception3()", "torchvision.models.Inception3"),
        ("from torchvision.models.detection import SSD\nSSD(net, boxes)", "torchvision.models.detection.SSD"),
        ("from torchvision.models.detection import SSD\nSSD(net, boxes, head=head)", None),
        ("from torchvision.models.segmentation import FCN\nFCN(net, head)", None),
        (
            "from torchaudio.models import wav2vec2_base\nwav2vec2_base(aux_num_out=31)",
            "torchaudio.models.wav2vec2_base",
        ),
        ("from torchaudio.models import Wav2Vec2Model\nWav2Vec2Model(extractor, encoder)", None),
    ],
)
def test_constructors_of_models_draw(tmp_path: Path, lines: str, what: str | None) -> None:
    assert _drawn(tmp_path, lines) == what


GENERATE = """
from transformers import AutoModelForCausalLM, pipeline
from transformers.models.gpt2 import GPT2LMHeadModel

model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda").eval()
other = GPT2LMHeadModel.from_pretrained("gpt2")
pipe = pipeline("text-generation")
sampling = pipeline("text-generation", do_sample=True)
{}
"""


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("model.generate(x, do_sample=True)", "transformers.PreTrainedModel.generate"),
        ("other.generate(**x, do_sample=True)", "transformers.PreTrainedModel.generate"),
        ("pipe(x, do_sample=True)", "transformers.Pipeline"),
        ("sampling(x)", "transformers.Pipeline"),
        ("model.generate(x)", None),
        ("model.generate(x, do_sample=False)", None),
        ("model.generate(x, **options)", None),
        ("pipe(x)", "transformers.Pipeline"),
        ("pipe(x, do_sample=False)", None),
        ("sampling(x, do_sample=False)", None),
    ],
)
def test_sampling_of_texts_draws(tmp_path: Path, call: str, what: str | None) -> None:
    assert _drawn(tmp_path, GENERATE.format(call)) == what


def _drawn(folder: Path, program: str) -> str | None:
    """What draws from torch's generator first."""
    torch = told(folder, f"import torch\n{program}\ntorch.use_deterministic_algorithms(True)\n")["generators"]["torch"]
    assert torch["state"] == ("unused" if torch["first_draw"] is None else "unseeded")
    return None if torch["first_draw"] is None else str(torch["first_draw"]["what"])


GUESSED = """
    import os
    import torch


    class Env:
        def set_seed(self, seed):
            torch.manual_seed(seed)


    class Other:
        def set_seed(self, seed):
            torch.manual_seed(seed)


    os.path.somewhere(Env(), Other()).set_seed(1)
    {}
    """


def test_what_is_seeded_by_its_name_alone_counts_where_something_is_drawn(tmp_path: Path) -> None:
    generators = told(tmp_path, GUESSED.format("torch.rand(1)"))["generators"]
    assert {name: generators[name]["state"] for name in generators} == {
        "torch": "optional", "numpy": "unused", "python": "unused",
    }  # fmt: skip


LOADERS = """
    import torch
    from torch.utils.data import DataLoader


    class Loader(DataLoader):
        pass


    def again(loader):
        options = {{"dataset": loader.dataset, "worker_init_fn": loader.worker_init_fn}}
        return DataLoader(**options, generator=loader.generator)


    for batch in again({}):
        pass
    """


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("DataLoader([1, 2])", (2, 0, 0)),
        ("DataLoader([1, 2], generator=torch.Generator())", (2, 2, 0)),
        ("DataLoader([1, 2], worker_init_fn=print)", (2, 0, 2)),
        ("Loader([1, 2])", (2, 0, 0)),
        ("Loader([1, 2], worker_init_fn=print)", (2, 0, 2)),
        ("(torch.nn.Linear(1, 1) if unknown else DataLoader([1, 2]))", (2, 0, 0)),
    ],
)
def test_a_loader_has_what_it_was_given(tmp_path: Path, made: str, given: tuple[int, int, int]) -> None:
    assert tuple(told(tmp_path, LOADERS.format(made))["loaders"].values()) == given


def test_a_loader_that_perhaps_has_a_generator_is_not_seen_to_have_one(tmp_path: Path) -> None:
    program = """
        import torch
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2])
        if unknown():
            loader.generator = torch.Generator()
        for batch in DataLoader([1, 2], generator=loader.generator):
            pass
        """
    assert tuple(told(tmp_path, program)["loaders"].values()) == (2, 0, 0)


@pytest.mark.parametrize("arguments", ["fit", "fit, (3,)", "fit, args=(3,), num_processes=2"])
def test_a_launcher_of_notebooks_runs_the_function(tmp_path: Path, arguments: str) -> None:
    program = """
        import torch
        from accelerate import notebook_launcher


        def fit(seed=1):
            torch.manual_seed(seed)
            torch.rand(1)


        notebook_launcher({})
        """
    assert told(tmp_path, textwrap.dedent(program).format(arguments))["generators"]["torch"]["state"] == "seeded"


@pytest.mark.parametrize(
    ("kept", "used"),
    [
        ("weakref.proxy(self)", "self.item.owner.draw()"),
        ("weakref.ref(self)", "self.item.owner().draw()"),
        ("weakref.ref(self, print)", "self.item.owner().draw()"),
    ],
)
def test_a_weak_reference_is_what_it_refers_to(tmp_path: Path, kept: str, used: str) -> None:
    program = f"""
        import weakref

        import torch


        class Item:
            pass


        class Owner:
            def __init__(self):
                self.item = Item()
                self.item.owner = {kept}

            def draw(self):
                return torch.rand(3)

            def run(self):
                {used}


        Owner().run()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "unseeded"
