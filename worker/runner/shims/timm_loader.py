"""Models of the TIMM suite, made as upstream's script makes them."""

import os
import time

import torch

from . import device_use
from .failures import WeightsUnavailable
from .loading import Loaded, seed

BUILDS_ON_THE_HOST = True  # says itself when it uses the device (device_use.py)
_FACTORY = dict(in_chans=3, scriptable=False, num_classes=None)
_DROP = dict(drop_rate=0.0, drop_path_rate=None, drop_block_rate=None)
# Upstream tries six times and waits this long in between.
_RETRY_WAITS_S = (30, 60, 90, 120, 150)


def create(timm, name, pretrained):
    seed()
    try:
        return timm.create_model(name, pretrained=pretrained, **_FACTORY, **_DROP)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
    seed()  # some models do not know the drop arguments
    return timm.create_model(name, pretrained=pretrained, **_FACTORY)


def weights_are_cached(timm, name):
    """Whether pretrained weights of `name` are on this host; never uses the network."""
    config = timm.models.get_pretrained_cfg(name)
    if config is None:
        return False
    if getattr(config, "file", None) and os.path.exists(config.file):
        return True
    if getattr(config, "hf_hub_id", None):
        try:
            from huggingface_hub import try_to_load_from_cache
        except ImportError:
            return False
        files = ("model.safetensors", "pytorch_model.bin", getattr(config, "hf_hub_filename", None))
        return any(isinstance(try_to_load_from_cache(config.hf_hub_id, f), str) for f in files if f)
    url = getattr(config, "url", "") or ""
    return bool(url) and os.path.exists(
        os.path.join(torch.hub.get_dir(), "checkpoints", os.path.basename(url)))


def create_pretrained(timm, name):
    import requests

    network = [OSError, requests.RequestException]
    try:
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        network += [HfHubHTTPError, LocalEntryNotFoundError]
    except ImportError:
        pass
    for wait_s in (*_RETRY_WAITS_S, None):
        try:
            return create(timm, name, True)
        except tuple(network) as error:
            if wait_s is None:
                raise WeightsUnavailable("pretrained weights of %s: %s" % (name, error)) from error
            print("weights of %s: %s; trying again in %d s" % (name, error, wait_s), flush=True)
            time.sleep(wait_s)


def load(experiment, _model_file):
    try:
        import timm
    except ImportError as error:
        raise ImportError("the suite timm needs timm and torchvision in environment %s: %s"
                          % (experiment["environment"], error)) from error
    name, wanted = experiment["source"]["name"], experiment["weights"]
    pretrained = wanted == "pretrained" or (wanted == "auto" and weights_are_cached(timm, name))
    model = create_pretrained(timm, name) if pretrained else create(timm, name, False)
    device = experiment["device"]
    device_use.first_use()
    model.to(device=device)
    if experiment["channels_last"]:
        model.to(memory_format=torch.channels_last)
    training = experiment["mode"] == "training"
    config = timm.data.resolve_data_config({}, model=model, use_test_size=not training)
    seed()
    size = (experiment["batch_size"], *config["input_size"])
    images = torch.randint(256, size, device=device).to(dtype=torch.float32)
    # Over the whole tensor, not by channel with the model's own mean and deviation: as upstream.
    images = (images - torch.mean(images)) / torch.std(images)
    if experiment["channels_last"]:
        images = images.to(memory_format=torch.channels_last)
    return Loaded(model=model, inputs=[images], batch_size=experiment["batch_size"],
                  weights="pretrained" if pretrained else "random")
