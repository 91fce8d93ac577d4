"""What libraries seed and draw, by their names: Megatron's seeds of GPUs, networkx' drawings."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from detlint.finding import Severity
from tests.project import told
from tests.support import report


@pytest.mark.parametrize(
    "imported",
    [
        "from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed as seed",
        "from fairseq.model_parallel.megatron.mpu import model_parallel_cuda_manual_seed as seed",
        "from elsewhere import mpu; seed = mpu.model_parallel_cuda_manual_seed",
    ],
)
def test_seeds_of_gpus_leave_the_others_unseeded(tmp_path: Path, imported: str) -> None:
    program = f"import random, torch\n{imported}\nseed(3)\nrandom.random()\ntorch.save(torch.rand(2), 'x')\n"
    generators = told(tmp_path, program)["generators"]
    assert {name: each["state"] for name, each in generators.items()} == {
        "torch": "unseeded",
        "numpy": "unused",
        "python": "unseeded",
    }


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("draw(graph)", "unseeded"),
        ("draw_networkx(graph, with_labels=False)", "unseeded"),
        ("draw_spring(graph)", "unseeded"),
        ("draw(graph, networkx.circular_layout(graph))", "unused"),
        ("draw_networkx(graph, pos=networkx.spring_layout(graph, seed=0))", "unused"),
        ("draw_circular(graph)", "unused"),
    ],
)
def test_drawings_of_graphs_without_positions_draw(tmp_path: Path, call: str, state: str) -> None:
    program = f"import networkx, torch\ngraph = networkx.path_graph(3)\ntorch.manual_seed(0)\nnetworkx.{call}\n"
    assert told(tmp_path, program)["generators"]["numpy"]["state"] == state


@pytest.mark.parametrize(
    ("made", "state"),
    [
        ("transformers.BertForSequenceClassification(transformers.BertConfig())", "late"),
        ("transformers.GPT2LMHeadModel(transformers.GPT2Config())", "late"),
        ("transformers.BertModel.from_pretrained('bert-base-uncased')", "seeded"),
    ],
)
def test_a_model_made_of_a_configuration_draws_before_the_trainer_seeds(tmp_path: Path, made: str, state: str) -> None:
    program = f"import transformers\nmodel = {made}\ntransformers.Trainer(model=model).train()\n"
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("made", "state"),
    [
        ("transformers.AutoModelForMaskedLM.from_config(config)", "unseeded"),
        ("transformers.GPT2LMHeadModel(config)", "unseeded"),
        ("type('Own', (transformers.BertModel,), {})(config)", "unseeded"),
        ("transformers.BertModel.from_pretrained('bert-base-cased')", "unused"),
        ("transformers.GPT2LMHeadModel.from_pretrained('gpt2')", "unused"),
        ("transformers.AutoModel.from_pretrained('gpt2')", "unused"),
    ],
)
def test_a_model_of_transformers_that_is_made_of_a_configuration_draws_weights(
    tmp_path: Path, made: str, state: str
) -> None:
    program = f"""
        import transformers

        config = transformers.AutoConfig.from_pretrained("gpt2")
        model = {made}
        model(1).loss.backward()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("contexts", "state"),
    [
        ("[no_init_weights()]", "unused"),
        ("[open('log'), init_empty_weights()]", "unused"),
        ("[open('log')]", "unseeded"),
        ("[]", "unseeded"),
    ],
)
def test_a_model_that_is_made_in_a_stack_of_contexts_without_values_draws_nothing(
    tmp_path: Path, contexts: str, state: str
) -> None:
    program = f"""
        import transformers
        from accelerate import init_empty_weights
        from transformers.modeling_utils import no_init_weights
        from transformers.utils.generic import ContextManagers

        with ContextManagers({contexts}):
            model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained("gpt2"))
        model(1).loss.backward()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("generated", "state"),
    [
        ("model.generate(ids, generation_config=sampled)", "unseeded"),
        ("model.generate(ids, sampled)", "unseeded"),
        ("model.generate(ids, sampled, do_sample=False)", "unused"),
        ("model.generate(ids, generation_config=transformers.GenerationConfig(num_beams=4))", "unused"),
        ("model.generate(ids, generation_config=transformers.GenerationConfig.from_pretrained('gpt2'))", "unused"),
        ("greedy.do_sample = True; model.generate(ids, greedy)", "unused"),
        ("model.generate(ids)", "unused"),
    ],
)
def test_a_configuration_of_generation_tells_whether_it_samples(tmp_path: Path, generated: str, state: str) -> None:
    program = f"""
        import torch, transformers

        sampled = transformers.GenerationConfig(do_sample=True, max_new_tokens=20)
        greedy = transformers.GenerationConfig(do_sample=False)
        model = transformers.AutoModelForCausalLM.from_pretrained("gpt2")
        {generated}
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("config", "state"),
    [
        ("peft.LoraConfig(r=8)", "unseeded"),
        ("peft.LoraConfig(init_lora_weights='gaussian')", "unseeded"),
        ("peft.LoraConfig(init_lora_weights='pissa')", "unused"),
        ("peft.LoraConfig(**{'init_lora_weights': 'olora'})", "unused"),
        ("peft.LoraConfig(init_lora_weights=sys.argv[1])", "unseeded"),
        ("peft.IA3Config(task_type='CAUSAL_LM')", "unused"),
        ("peft.PeftConfig.from_pretrained('adapters')", "unseeded"),
    ],
)
def test_adapters_draw_unless_their_configuration_starts_them_from_the_model(
    tmp_path: Path, config: str, state: str
) -> None:
    program = f"""
        import sys, peft, torch, transformers

        config = {config}
        model = peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained("gpt2"), config)
        model(1).loss.backward()
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("seed", "state"),
    [
        ("set_random_seed(0, False)", "unseeded"),
        ("set_random_seed(seed=-1, is_cuda=False)", "unseeded"),
        ("set_random_seed(1, False)", "seeded"),
        ("set_random_seed(int(sys.argv[1]), False)", "seeded"),
        ("set_random_seed(args.seed, False)", "optional"),
        ("set_random_seed(args.other, False)", "seeded"),
    ],
)
def test_a_seeder_may_take_some_numbers_for_none(tmp_path: Path, seed: str, state: str) -> None:
    program = f"""
        import argparse, sys, torch
        from onmt.utils.misc import set_random_seed

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=-1)
        parser.add_argument("--other", type=int, default=3)
        args = parser.parse_args()
        {seed}
        torch.save(torch.rand(2), "x")
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == state


@pytest.mark.parametrize(
    ("generated", "found"),
    [
        ("model.generate(ids)", [("DET101", Severity.NOTE)]),
        ("model.generate(**ids, temperature=0.7)", [("DET101", Severity.NOTE)]),
        ("model.generate(ids, do_sample=False)", []),
        ("torch.manual_seed(0); model.generate(ids)", []),
        ("model.generation_config.do_sample = True; model.generate(ids)", [("DET101", Severity.ERROR)]),
        ("model.generation_config.do_sample = False; model.generate(ids)", []),
        ("model.generation_config.do_sample = ids; model.generate(ids)", [("DET101", Severity.NOTE)]),
        ("model.generate(ids); model.generate(ids, do_sample=True)", [("DET101", Severity.ERROR)]),
        ("model.generate(ids, transformers.GenerationConfig(num_beams=4))", []),
    ],
)
def test_what_a_checkpoint_decides_is_a_note(generated: str, found: list[tuple[str, Severity]]) -> None:
    program = f"""
        import torch, transformers

        model = transformers.AutoModelForCausalLM.from_pretrained("gpt2")
        {generated}
        """
    judged = report({"main.py": dedent(program)}).findings
    assert [(each.finding.code, each.severity) for each in judged] == found
