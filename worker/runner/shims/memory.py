"""What one run of a model leaves behind, given back before the next one needs it."""

import gc

import torch


def release(device):
    """Garbage of the models that ran, then what the device's allocator keeps of it."""
    gc.collect()
    empty_cache = getattr(getattr(torch, device, None), "empty_cache", None)
    if device != "cpu" and empty_cache is not None:
        empty_cache()
