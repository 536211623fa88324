"""What was fixed when the model was compiled and must not change before the last sample."""

import torch


def _autocast(device):
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:  # older signature: no device
        return torch.is_autocast_enabled()


def read(device):
    return {
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "grad": torch.is_grad_enabled(),
        "inference_mode": torch.is_inference_mode_enabled(),
        "autocast": bool(_autocast(device)),
        "tf32": bool(torch.backends.cuda.matmul.allow_tf32),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "default_dtype": str(torch.get_default_dtype()),
    }
