"""Models of the HuggingFace suite: a class, a configuration, random weights. No network, unless
pretrained weights are asked for."""

import json
import time

import torch

from . import device_use, generation, huggingface_inputs
from .failures import CapabilityMissing, OptionRefused, WeightsUnavailable
from .loading import Loaded, seed

BUILDS_ON_THE_HOST = True  # says itself when it uses the device (device_use.py)
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers",
          "num_decoder_layers")
# Upstream switches dropout off only after the model was built; zero would change which code runs.
_NO_DROPOUT = 1e-30
_RETRY_WAITS_S = (30, 60, 90, 120, 150)
_KNOWN = {"kind", "class", "config_class", "config", "checkpoint", "sequence_length", "input_ids",
          "last_token", "decoder_input_ids", "labels", "pad_token_id", "use_cache", "layers_keys",
          "input", "prompt_length", "new_tokens", "prefill"}
# What no layer count of a configuration fits any more once it has fewer layers is cut with it.
_PER_LAYER = ("layer_types", "attention_types", "attn_layers", "attention_window", "mlp_layer_types")


def _library(experiment):
    try:
        import transformers
    except ImportError as error:
        raise ImportError("the suite huggingface needs transformers in environment %s: %s" % (
            experiment["environment"], error)) from error
    return transformers


def _class(transformers, name):
    """CapabilityMissing when this version has no such class; what its module raises goes through."""
    found = getattr(transformers, name, None)
    if found is None:
        raise CapabilityMissing("transformers." + name, "transformers %s has no class %s" % (
            transformers.__version__, name))
    return found


def _parameters(experiment):
    parameters = experiment["source"]["parameters"]
    unknown = sorted(set(parameters) - _KNOWN)
    if unknown:
        raise OptionRefused("the loader huggingface knows no parameter %s" % ", ".join(unknown))
    for name in ("kind", "class"):
        if name not in parameters:
            raise OptionRefused("the loader huggingface needs the parameter %s (docs/suites.md)"
                                % name)
    return parameters


def _holder(config, path):
    """The nested configuration that `a.b.key` names, and its last word."""
    *parts, key = path.split(".")
    for part in parts:
        config = getattr(config, part)
    return config, key


def set_layers(config, layers, keys):
    """Gives the model so many layers; OptionRefused when the configuration has no such attribute."""
    paths = keys.split(",") if keys else [key for key in LAYERS if getattr(config, key, None)]
    done = []
    for path in paths:
        holder, key = _holder(config, path.strip())
        if not hasattr(holder, key):
            raise OptionRefused("layers=%d: %s has no attribute %s" % (
                layers, type(holder).__name__, key))
        for name in _PER_LAYER:
            whole = getattr(holder, name, None)
            if isinstance(whole, (list, tuple)) and len(whole) > layers:
                setattr(holder, name, type(whole)(whole[:layers]))
        setattr(holder, key, layers)
        done.append("%s=%d" % (path.strip(), getattr(holder, key)))
    if not done:
        raise OptionRefused("layers=%d: %s has none of the attributes %s" % (
            layers, type(config).__name__, ", ".join(LAYERS)))
    return done


def _change(config, experiment, parameters):
    if "pad_token_id" in parameters:
        config.pad_token_id = int(parameters["pad_token_id"])
    if experiment["layers"]:
        return set_layers(config, experiment["layers"], parameters.get("layers_keys", ""))
    return []


def configuration(transformers, experiment, parameters):
    """(configuration, what of it was cut)"""
    name = parameters.get("config_class")
    kind = _class(transformers, name or parameters["class"])
    if not name:
        kind = getattr(kind, "config_class", None)
        if kind is None:
            raise OptionRefused("the class %s knows no configuration class: the parameter "
                                "config_class has to name it" % parameters["class"])
    config = kind(**json.loads(parameters.get("config", "{}")))
    return config, _change(config, experiment, parameters)


def _build(transformers, name, config):
    seed()
    kind = _class(transformers, name)
    if name.startswith("Auto"):
        return kind.from_config(config)
    return kind(config)


def checkpoint_is_cached(name):
    """Whether the pretrained weights are on this host; never uses the network."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return False
    files = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
    return (isinstance(try_to_load_from_cache(name, "config.json"), str)
            and any(isinstance(try_to_load_from_cache(name, file), str) for file in files))


def _pretrained(transformers, experiment, parameters, local):
    """Downloads are tried again as upstream does; what is on this host needs no network."""
    name, kind = parameters["checkpoint"], _class(transformers, parameters["class"])
    config = transformers.AutoConfig.from_pretrained(name, local_files_only=local)
    cut = _change(config, experiment, parameters)
    for wait_s in (*_RETRY_WAITS_S, None):
        try:
            seed()
            model = kind.from_pretrained(name, config=config, dtype=torch.float32,
                                         local_files_only=local)
            return model, cut
        except OSError as error:
            if wait_s is None or local:
                raise WeightsUnavailable("pretrained weights of %s: %s" % (name, error)) from error
            print("weights of %s: %s; trying again in %d s" % (name, error, wait_s), flush=True)
            time.sleep(wait_s)


def make(transformers, experiment, parameters):
    """(model, "pretrained" or "random", cut layers)"""
    wanted, checkpoint = experiment["weights"], parameters.get("checkpoint", "")
    cached = bool(checkpoint) and checkpoint_is_cached(checkpoint)
    if checkpoint and (wanted == "pretrained" or (wanted == "auto" and cached)):
        try:
            model, cut = _pretrained(transformers, experiment, parameters, cached)
        except OSError as error:
            raise WeightsUnavailable("configuration of %s: %s" % (checkpoint, error)) from error
        return model, "pretrained", cut
    config, cut = configuration(transformers, experiment, parameters)
    return _build(transformers, parameters["class"], config), "random", cut


def silence_dropout(config):
    for name in dir(config):
        if "drop" in name and isinstance(getattr(config, name, None), float):
            setattr(config, name, _NO_DROPOUT)


def turn_cache_off(model):
    """Of every part: some hold a copy of the configuration."""
    for module in model.modules():
        if hasattr(getattr(module, "config", None), "use_cache"):
            module.config.use_cache = False


def _inputs(experiment, parameters, model):
    """(keyword inputs, batch size)"""
    device, batch_size = experiment["device"], experiment["batch_size"] or 1
    if parameters["kind"] == "forward" and not experiment["generation"]:
        return huggingface_inputs.tokens_and_labels(model, parameters, batch_size,
                                                    device), batch_size
    if parameters.get("input") == "audio":
        return huggingface_inputs.audio(model, device), 1
    # As upstream: one prompt, but for the prefill measurement.
    batch_size = batch_size if experiment["generation"] == "prefill" else 1
    length = generation.prompt_length(experiment)
    return huggingface_inputs.prompt(model, batch_size, length, device), batch_size


def load(experiment, _model_file):
    transformers = _library(experiment)
    parameters = _parameters(experiment)
    model, weights, cut = make(transformers, experiment, parameters)
    if experiment["activation_checkpointing"]:
        model.gradient_checkpointing_enable()
    device_use.first_use()
    # Models differ in what they come as; every one starts in float32.
    model = model.to(device=experiment["device"], dtype=torch.float32)
    if experiment["channels_last"]:
        model = model.to(memory_format=torch.channels_last)
    silence_dropout(model.config)
    generates = parameters["kind"] == "generate"
    if parameters.get("use_cache", "true" if generates else "false") == "false" or (
            not experiment["generation"]):
        turn_cache_off(model)
    inputs, batch_size = _inputs(experiment, parameters, model)
    notes = ["layers cut: " + ", ".join(cut)] if cut else []
    if experiment["batch_size"] and batch_size != experiment["batch_size"]:
        notes.append("batch size %d was asked for; a language model gets one prompt"
                     % experiment["batch_size"])
    in_force = {"model.class": type(model).__name__, "inputs": ", ".join(
        "%s %s" % (name, "x".join(map(str, tensor.shape))) for name, tensor in inputs.items())}
    if experiment["activation_checkpointing"]:
        in_force["activation_checkpointing"] = str(model.is_gradient_checkpointing)
    return Loaded(model=model, inputs=inputs, batch_size=batch_size, weights=weights, notes=notes,
                  in_force=in_force)
