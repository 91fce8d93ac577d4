"""A short sound and an untrained speech model in the format of its checkpoints."""

from __future__ import annotations

import sys
import wave
from pathlib import Path

import numpy as np
import torch

_RATE = 16000
_STATE, _HEADS, _LAYERS = 32, 2, 2
_MELS, _FRAMES, _TOKENS, _CONTEXT = 80, 1500, 51865, 448
_DECODER = """\
import sys
import wave

with wave.open(sys.argv[sys.argv.index("-i") + 1], "rb") as sound:
    sys.stdout.buffer.write(sound.readframes(sound.getnframes()))
"""


def whisper(root: Path) -> None:
    """Write five seconds of tones, an untrained multilingual model, and a decoder of sound files.

    The decoder stands in for ffmpeg, which the program calls: it reads files of the right rate alone.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(40)
    time = np.arange(5 * _RATE) / _RATE
    tones = sum(np.sin(2 * np.pi * pitch * time) for pitch in (220.0, 350.0, 700.0))
    samples = (tones / 3 * 12000 + numbers.normal(scale=300, size=time.size)).astype("<i2")
    with wave.open(str(root / "sound.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(_RATE)
        sound.writeframes(samples.tobytes())
    decoder = root / "bin/ffmpeg"
    decoder.parent.mkdir()
    decoder.write_text(f"#!{sys.executable}\n{_DECODER}")
    decoder.chmod(0o755)
    torch.save({"dims": _dimensions(), "model_state_dict": _weights()}, root / "untrained.pt")


def _dimensions() -> dict[str, int]:
    sizes = {"n_mels": _MELS, "n_vocab": _TOKENS}
    for side, context in (("audio", _FRAMES), ("text", _CONTEXT)):
        sizes |= {f"n_{side}_ctx": context, f"n_{side}_state": _STATE}
        sizes |= {f"n_{side}_head": _HEADS, f"n_{side}_layer": _LAYERS}
    return sizes


def _weights() -> dict[str, torch.Tensor]:
    """Draw the weights of the encoder and the decoder by their names in a checkpoint."""
    drawn = torch.Generator().manual_seed(41)
    state: dict[str, torch.Tensor] = {}

    def weight(name: str, *shape: int) -> None:
        state[name] = torch.randn(*shape, generator=drawn) * 0.05

    def linear(name: str, before: int, after: int, *, bias: bool = True) -> None:
        weight(f"{name}.weight", after, before)
        if bias:
            state[f"{name}.bias"] = torch.zeros(after)

    def norm(name: str) -> None:
        state[f"{name}.weight"], state[f"{name}.bias"] = torch.ones(_STATE), torch.zeros(_STATE)

    def attention(name: str) -> None:
        for part in ("query", "key", "value", "out"):
            linear(f"{name}.{part}", _STATE, _STATE, bias=part != "key")
        norm(f"{name}_ln")

    for number, channels in ((1, _MELS), (2, _STATE)):
        weight(f"encoder.conv{number}.weight", _STATE, channels, 3)
        state[f"encoder.conv{number}.bias"] = torch.zeros(_STATE)
    weight("encoder.positional_embedding", _FRAMES, _STATE)
    weight("decoder.token_embedding.weight", _TOKENS, _STATE)
    weight("decoder.positional_embedding", _CONTEXT, _STATE)
    for side in ("encoder", "decoder"):
        for layer in range(_LAYERS):
            block = f"{side}.blocks.{layer}"
            attention(f"{block}.attn")
            if side == "decoder":
                attention(f"{block}.cross_attn")
            linear(f"{block}.mlp.0", _STATE, 4 * _STATE)
            linear(f"{block}.mlp.2", 4 * _STATE, _STATE)
            norm(f"{block}.mlp_ln")
    norm("encoder.ln_post")
    norm("decoder.ln")
    return state
