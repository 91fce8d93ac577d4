"""Untrained language models and what they are tuned with, in the forms that programs read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from . import text

_WIDTH, _HIDDEN, _LAYERS, _HEADS = 32, 64, 2, 4


def tokens(root: Path) -> None:
    """Write the numbers of tokens in a row, as OLMo's data set maps them into memory, to `small/tokens.npy`."""
    (root / "small").mkdir()
    np.random.default_rng(0).integers(0, 500, 40 * 512, dtype=np.uint16).tofile(root / "small/tokens.npy")


def torchtune_llama(root: Path) -> None:
    """Write a Llama with the vocabulary of torchtune's tests, in torchtune's own form, to `untrained/model.pt`."""
    drawn = torch.Generator().manual_seed(0)

    def weight(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=drawn) * 0.02

    state = {"tok_embeddings.weight": weight(2000, _WIDTH), "output.weight": weight(2000, _WIDTH)}
    state["norm.scale"] = torch.ones(_WIDTH)
    for layer in range(_LAYERS):
        for name in ("q", "k", "v", "output"):
            state[f"layers.{layer}.attn.{name}_proj.weight"] = weight(_WIDTH, _WIDTH)
        for name in ("w1", "w3"):
            state[f"layers.{layer}.mlp.{name}.weight"] = weight(_HIDDEN, _WIDTH)
        state[f"layers.{layer}.mlp.w2.weight"] = weight(_WIDTH, _HIDDEN)
        for name in ("sa_norm", "mlp_norm"):
            state[f"layers.{layer}.{name}.scale"] = torch.ones(_WIDTH)
    (root / "untrained").mkdir()
    torch.save(state, root / "untrained/model.pt")


def llama(root: Path) -> None:
    """Write a Llama of words in the form of transformers to `untrained`, and instructions with answers to `small`."""
    lines = text.sentences(96).splitlines()
    words = sorted({word for line in lines for word in line.removesuffix(".").split()})
    vocabulary = {word: number for number, word in enumerate(["<unk>", "<s>", "</s>", *words])}
    folder = root / "untrained"
    folder.mkdir()
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(vocabulary),
        "hidden_size": _WIDTH,
        "intermediate_size": _HIDDEN,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "num_key_value_heads": _HEADS,
        "max_position_embeddings": 256,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    special = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    for name, content in {"config": config, "tokenizer": tokenizer, "tokenizer_config": special}.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    torch.save(_llama_weights(len(vocabulary)), folder / "pytorch_model.bin")
    (root / "small").mkdir()
    rows = [{"instruction": one, "output": other} for one, other in zip(lines[::2], lines[1::2], strict=True)]
    (root / "small/train.json").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")


def _llama_weights(vocabulary: int) -> dict[str, torch.Tensor]:
    drawn = torch.Generator().manual_seed(0)
    shapes = {"model.embed_tokens": (vocabulary, _WIDTH), "lm_head": (vocabulary, _WIDTH)}
    for layer in range(_LAYERS):
        block = f"model.layers.{layer}"
        shapes |= {f"{block}.self_attn.{name}_proj": (_WIDTH, _WIDTH) for name in "qkvo"}
        shapes |= {f"{block}.mlp.{name}_proj": (_HIDDEN, _WIDTH) for name in ("gate", "up")}
        shapes |= {f"{block}.mlp.down_proj": (_WIDTH, _HIDDEN)}
    weights = {f"{name}.weight": torch.randn(shape, generator=drawn) * 0.02 for name, shape in shapes.items()}
    norms = ["model.norm"]
    for layer in range(_LAYERS):
        norms += [f"model.layers.{layer}.{name}_layernorm" for name in ("input", "post_attention")]
    return weights | {f"{name}.weight": torch.ones(_WIDTH) for name in norms}
