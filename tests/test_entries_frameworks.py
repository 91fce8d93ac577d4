"""`detlint entries`: what trainers and other frameworks call of a program's own functions and methods."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

FRAMEWORK = """
    import random
    import sys

    import deepspeed
    import optuna
    import pytorch_lightning as pl
    from ignite.engine import Engine, Events
    from torch import nn
    from torch.optim.swa_utils import AveragedModel
    from torch.utils.data import DataLoader, Dataset


    def noise(*args):
        return random.random()


    class Noise(nn.Module):
        def forward(self, x):
            return noise(x)


    class Data(Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return noise(index)


    class Callback(pl.Callback):
        def on_train_epoch_start(self, trainer, module):
            noise()


    class Model(pl.LightningModule):
        def {hook}(self, *args):
            noise()


    {}
    random.seed(0)
    random.random()
    """


@pytest.mark.parametrize(
    "program",
    [
        "trainer = Engine(lambda engine, batch: batch)\ntrainer.run(DataLoader(Data()), max_epochs=2)",
        "trainer = Engine(print)\n@trainer.on(Events.STARTED)\ndef begin(engine):\n    noise()\ntrainer.run([1])",
        "trainer = Engine(print)\ntrainer.add_event_handler(Events.STARTED, noise)\ntrainer.run([1])",
        "optuna.create_study().optimize(noise, n_trials=3)",
        "engine, _, _, _ = deepspeed.initialize(model=Noise())\nengine(1)",
        "engine, *_ = deepspeed.initialize(None, Noise())\nengine(1)",
        "AveragedModel(Noise())(1)",
        "getattr(sys.modules[__name__], 'noise')(1)",
        "module, _, name = 'program.noise'.partition('.')\ngetattr(sys.modules['__main__'], name)(1)",
        "name = 'program.noise'.rsplit('.', 1)[1]\nglobals()[name](1)",
        "pl.Trainer(callbacks=[Callback()]).fit(nn.ReLU())",
        "pl.Trainer(callbacks=Callback()).fit(nn.ReLU())",
    ],
)
def test_a_framework_calls_what_it_is_given(tmp_path: Path, program: str) -> None:
    assert drawn(tmp_path, program) == "late"


@pytest.mark.parametrize(
    ("hook", "method"),
    [
        ("on_train_epoch_end", "fit"),
        ("training_epoch_end", "fit"),
        ("on_validation_epoch_end", "validate"),
        ("on_test_batch_start", "test"),
        ("on_predict_epoch_end", "predict"),
    ],
)
def test_a_trainer_calls_its_hooks(tmp_path: Path, hook: str, method: str) -> None:
    assert drawn(tmp_path, f"pl.Trainer().{method}(Model())", hook) == "late"


def test_a_trainer_calls_no_hooks_of_what_it_does_not_do(tmp_path: Path) -> None:
    assert drawn(tmp_path, "pl.Trainer().test(Model())", "on_train_epoch_end") == "seeded"


@pytest.mark.parametrize(
    "program", ["optuna.never(True)(noise)", "from optuna import wrap\nwrapped = unknown()(noise)"]
)
def test_what_is_perhaps_a_decorator_calls_nothing(tmp_path: Path, program: str) -> None:
    assert drawn(tmp_path, program) == "seeded"


def drawn(folder: Path, program: str, hook: str = "forward") -> str:
    """The state of Python's generator in a program, whose model has a hook."""
    text = FRAMEWORK.replace("{}", program.replace("\n", "\n" + " " * 4)).replace("{hook}", hook)
    state: str = told(folder, text)["generators"]["python"]["state"]
    return state


STRUCTURED = """
    import random
    from dataclasses import dataclass

    import hydra
    from hydra.core.config_store import ConfigStore


    @dataclass
    class Config:
        noisy: bool = {}


    ConfigStore.instance().store(name="config", node=Config)


    @hydra.main(version_base=None, config_path=None, config_name="{}")
    def main(cfg):
        if cfg.noisy:
            random.random()
        random.seed(0)
        random.random()


    if __name__ == "__main__":
        main()
    """


@pytest.mark.parametrize(
    ("noisy", "name", "state"), [("True", "config", "late"), ("False", "config", "seeded"), ("False", "other", "late")]
)
def test_a_function_is_given_the_configuration_of_its_name(tmp_path: Path, noisy: str, name: str, state: str) -> None:
    assert told(tmp_path, STRUCTURED.format(noisy, name))["generators"]["python"]["state"] == state


def test_a_trainer_and_its_data_are_made_from_arguments(tmp_path: Path) -> None:
    program = """
        import random
        from argparse import ArgumentParser

        import pytorch_lightning as pl
        from torch.utils.data import DataLoader


        class Model(pl.LightningModule):
            def training_step(self, batch, index):
                return random.random()


        class Data(pl.LightningDataModule):
            def __init__(self, size=2):
                super().__init__()

            def train_dataloader(self):
                return DataLoader([1], batch_size=2, shuffle=True)


        args = pl.Trainer.add_argparse_args(ArgumentParser()).parse_args()
        trainer = pl.Trainer.from_argparse_args(args, max_epochs=1)
        trainer.fit(Model(), Data.from_argparse_args(args))
        """
    entry = told(tmp_path, program)
    assert entry["generators"]["python"]["state"] == "unseeded"
    assert entry["loaders"]["total"] == 1
