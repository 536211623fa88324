"""What makes two runs of one model alike: fixed seeds, deterministic algorithms, exact maths."""

import os

import torch

from .loading import SEED

_torch_manual_seed = torch.manual_seed


def _always_the_same_seed(*_args, **_kwargs):
    return _torch_manual_seed(SEED)


def wanted(experiment):
    """The accuracy test always; the performance test when it is asked for."""
    return experiment["test"] == "accuracy" or experiment["deterministic"]


def put_in_force(experiment, in_force):
    """Some models call what has no deterministic form: a rule leaves the algorithms as they are."""
    torch.use_deterministic_algorithms(experiment["accuracy"]["deterministic_algorithms"])
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    if hasattr(torch.backends.mkldnn, "deterministic"):
        torch.backends.mkldnn.deterministic = True
    reduced = getattr(torch.backends.cuda, "allow_fp16_bf16_reduction_math_sdp", None)
    if reduced is not None:
        reduced(False)
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.manual_seed = _always_the_same_seed
    in_force["torch.deterministic_algorithms"] = str(torch.are_deterministic_algorithms_enabled())
