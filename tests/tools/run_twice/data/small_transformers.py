"""Untrained language models and short texts, in the files that the transformers and datasets libraries read."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

_WORDS = ("red", "blue", "stone", "river", "house", "small", "large", "walks", "sings", "under", "over", "tree")
_SPECIAL = ("<|pad|>", "<|im_start|>", "<|im_end|>")
_HIDDEN, _LAYERS, _HEADS, _INNER = 16, 2, 2, 32
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def trl_conversations(root: Path) -> None:
    """Write an untrained causal model and conversations of two turns.

    Args:
        root: root of the repository's copy.
    """
    _trl(root, lambda prompt, answer, _: {"messages": [_turn("user", prompt), _turn("assistant", answer)]})


def trl_preferences(root: Path) -> None:
    """Write an untrained causal model and prompts with a chosen and a rejected answer each.

    Args:
        root: root of the repository's copy.
    """

    def row(prompt: str, answer: str, other: str) -> dict[str, object]:
        answers = {"chosen": [_turn("assistant", answer)], "rejected": [_turn("assistant", other)]}
        return {"prompt": [_turn("user", prompt)], **answers}

    _trl(root, row)


def trl_prompts(root: Path) -> None:
    """Write an untrained causal model and prompts without answers.

    Args:
        root: root of the repository's copy.
    """
    _trl(root, lambda prompt, answer, _: {"prompt": [_turn("user", prompt)]})


def trl_labelled(root: Path) -> None:
    """Write an untrained causal model and answers labelled as wanted or not.

    Args:
        root: root of the repository's copy.
    """

    def row(prompt: str, answer: str, other: str) -> dict[str, object]:
        sides = {"prompt": [_turn("user", prompt)], "completion": [_turn("assistant", answer)]}
        return {**sides, "label": len(answer) > len(other)}

    _trl(root, row)


def causal(folder: Path) -> None:
    """Write a causal model of two small layers in the architecture of Qwen2, with a tokenizer of single bytes.

    Args:
        folder: folder for the files.
    """
    folder.mkdir(parents=True)
    size = _tokenizer(folder)
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": _HIDDEN,
        "intermediate_size": _INNER,
        "num_attention_heads": _HEADS,
        "num_key_value_heads": _HEADS,
        "num_hidden_layers": _LAYERS,
        "max_position_embeddings": 512,
        "vocab_size": size,
        "tie_word_embeddings": True,
        "dtype": "float32",
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(config))
    numbers = np.random.default_rng(50)
    weights = {"model.embed_tokens.weight": _normal(numbers, size, _HIDDEN), "model.norm.weight": _ones(_HIDDEN)}
    for number in range(_LAYERS):
        layer = f"model.layers.{number}"
        for part in ("q", "k", "v"):
            weights[f"{layer}.self_attn.{part}_proj.weight"] = _normal(numbers, _HIDDEN, _HIDDEN)
            weights[f"{layer}.self_attn.{part}_proj.bias"] = np.zeros(_HIDDEN, np.float32)
        weights[f"{layer}.self_attn.o_proj.weight"] = _normal(numbers, _HIDDEN, _HIDDEN)
        for part, shape in (("gate", (_INNER, _HIDDEN)), ("up", (_INNER, _HIDDEN)), ("down", (_HIDDEN, _INNER))):
            weights[f"{layer}.mlp.{part}_proj.weight"] = _normal(numbers, *shape)
        for part in ("input", "post_attention"):
            weights[f"{layer}.{part}_layernorm.weight"] = _ones(_HIDDEN)
    _safetensors(folder / "model.safetensors", weights)


def _trl(root: Path, row: Callable[[str, str, str], Mapping[str, object]]) -> None:
    """Write the model, and 24 rows to train on and 4 to test, each made of a prompt and two answers."""
    causal(root / "untrained")
    installed = root / "trl.egg-info/PKG-INFO"  # what an installation leaves, of which programs ask their version
    installed.parent.mkdir()
    version = (root / "VERSION").read_text().strip()
    installed.write_text(f"Metadata-Version: 2.1\nName: trl\nVersion: {version}\n")
    numbers = np.random.default_rng(51)
    (root / "texts").mkdir()
    for part, count in (("train", 24), ("test", 4)):
        rows = []
        for _ in range(count):
            prompt, answer, other = (" ".join(numbers.choice(_WORDS, numbers.integers(3, 8))) for _ in range(3))
            rows.append(json.dumps(row(prompt, answer, other)))
        (root / "texts" / f"{part}.jsonl").write_text("\n".join(rows) + "\n")


def _turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _tokenizer(folder: Path) -> int:
    """Write a tokenizer that has a token for each byte and three special ones, and return how many it has."""
    tokens = [*_SPECIAL, *_bytes()]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": []}
    content = {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": token, **flags} for number, token in enumerate(_SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": model,
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))
    pad, _, end = _SPECIAL
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pad, "eos_token": end}
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template": _TEMPLATE}))
    return len(tokens)


def _bytes() -> list[str]:
    """Return the printable characters that stand for the 256 bytes in a tokenizer of bytes."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    rest = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + number) for number in range(len(rest))]


def _normal(numbers: np.random.Generator, *shape: int) -> np.ndarray:
    return (numbers.normal(size=shape) * 0.05).astype(np.float32)


def _ones(size: int) -> np.ndarray:
    return np.ones(size, np.float32)


def _safetensors(path: Path, weights: Mapping[str, np.ndarray]) -> None:
    """Write arrays of 32-bit floats in the safetensors format."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, value in weights.items():
        end = start + value.nbytes
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    content = b"".join(value.tobytes() for value in weights.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
