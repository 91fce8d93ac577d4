"""Probes of the short-time Fourier transform, whose frames overlap, and of its inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench


def _gradient(bench: Bench) -> Run:
    import torch

    wave, options = _transform(bench)
    options["pad_mode"] = bench.given("pad_mode", "reflect")
    return bench.gradients(lambda leaf: torch.stft(leaf, return_complex=True, **options).abs(), wave)


def _inverse(bench: Bench) -> Run:
    import torch

    wave, options = _transform(bench)
    spectrum = torch.stft(wave, return_complex=True, **options)
    return lambda: torch.istft(spectrum, length=wave.shape[-1], **options)


def _transform(bench: Bench) -> tuple[Tensor, dict[str, Any]]:
    """Return a wave, and the options of its transform."""
    import torch

    size = bench.given("n_fft", 400)
    length = bench.given("win_length", None) or size
    hop = bench.given("hop_length", None) or length // 4
    window = torch.hann_window(length, device=bench.device)
    options = {"n_fft": size, "hop_length": hop, "win_length": length, "window": window}
    return bench.normal(8, max(64000, 4 * size)), {**options, "center": bench.given("center", True)}


PROBES: dict[str, Probe] = {"stft.bwd": Probe(_gradient, devices=("cuda",)), "istft": Probe(_inverse)}
