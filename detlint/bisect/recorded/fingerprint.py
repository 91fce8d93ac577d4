"""What may make two runs differ from outside: versions, hardware, threads, switches, variables. Takes milliseconds."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

_PREFIXES = (
    "PYTHONHASHSEED CUBLAS_ CUDA_ CUDNN_ NCCL_ NVTE_ NVIDIA_TF32 OMP_ MKL_ OPENBLAS_ KMP_ GOMP_ PYTORCH_ TORCH_ "
    "TORCHDYNAMO_ TORCHINDUCTOR_ ATEN_ DNNL_ ONEDNN_ TF32 XLA_ HIP_ ROCBLAS_ MIOPEN_ MALLOC_ LD_PRELOAD PL_GLOBAL_SEED "
    "ACCELERATE_ WORLD_SIZE LOCAL_WORLD_SIZE"
).split()


def take() -> dict[str, str]:
    """Return the current environment, by name. torch must have been imported."""
    import torch

    found: dict[str, Any] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "numpy": getattr(sys.modules.get("numpy"), "__version__", ""),
        "cuda": torch.version.cuda or "",
        "hip": getattr(torch.version, "hip", None) or "",
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else "",
        "cores": os.cpu_count(),
        "hash_seed": os.environ.get("PYTHONHASHSEED", "random"),
        "address_randomisation": _text("/proc/sys/kernel/randomize_va_space"),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "fill": getattr(getattr(torch.utils, "deterministic", None), "fill_uninitialized_memory", ""),
        "cudnn.benchmark": torch.backends.cudnn.benchmark,
        "cudnn.deterministic": torch.backends.cudnn.deterministic,
        "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
        "matmul_precision": torch.get_float32_matmul_precision(),
        "default_dtype": torch.get_default_dtype(),
    }
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        found["devices"] = ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
        found["cudnn"] = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
    inductor: Any = sys.modules.get("torch._inductor.config")
    if getattr(inductor, "deterministic", False):  # one run may import it where the other does not need it
        found["inductor.deterministic"] = True
    taken = {key: str(value) for key, value in found.items()}
    variables = {key: value for key, value in sorted(os.environ.items()) if key.startswith(tuple(_PREFIXES))}
    return {**taken, **{f"env.{key}": value for key, value in variables.items()}}


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
