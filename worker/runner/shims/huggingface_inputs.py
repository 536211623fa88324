"""Inputs of the HuggingFace suite: random tokens by the suite's rules, never a tokenizer.

Values are drawn in upstream's order; docs/suites.md, "Parameters of the loaders", has the rules.
"""

import numpy
import torch

from .loading import SEED, seed

_SECONDS, _RATE, _LOUDNESS = 30, 16_000, 0.1


def _below(limit, shape, device):
    return torch.randint(0, limit, shape, dtype=torch.int64, device=device)


def text_configuration(model):
    """The part of the configuration that knows the vocabulary, of a model with several parts too."""
    config = model.config
    get = getattr(config, "get_text_config", None)
    return config if hasattr(config, "vocab_size") or get is None else get()


def _labels(kind, model, vocabulary, ids, device):
    if kind == "tokens":
        return {"labels": _below(vocabulary, ids.shape, device)}
    if kind == "tokens_but_last":
        return {"labels": _below(vocabulary - 1, ids.shape, device)}
    if kind == "classes":
        return {"labels": _below(model.config.num_labels - 1, ids.shape[:1], device)}
    if kind == "span":
        return {name: _below(ids.shape[1], ids.shape[:1], device)
                for name in ("start_positions", "end_positions")}
    raise ValueError("parameter labels=%s: expected tokens, tokens_but_last, classes or span" % kind)


def tokens_and_labels(model, parameters, batch_size, device):
    """Keyword inputs of one forward pass. Drawn after the weights from the same seed, as upstream's:
    on a CPU they go on where the weights ended, an accelerator's generator starts anew."""
    vocabulary = text_configuration(model).vocab_size
    shape = (batch_size, int(parameters["sequence_length"]))
    if parameters.get("input_ids", "random") == "zeros":
        ids = torch.zeros(shape, dtype=torch.int64, device=device)
    else:
        ids = _below(vocabulary, shape, device)
    if parameters.get("last_token") == "eos":
        ids[:, -1] = text_configuration(model).eos_token_id
    inputs = {"input_ids": ids}
    if parameters.get("decoder_input_ids") == "same":
        inputs["decoder_input_ids"] = ids
    inputs.update(_labels(parameters["labels"], model, vocabulary, ids, device))
    return inputs


def prompt(model, batch_size, length, device):
    """A random prompt for a language model."""
    seed()
    return {"input_ids": _below(text_configuration(model).vocab_size, (batch_size, length), device)}


def audio(model, device):
    """Features of noise, and the token that a speech model starts with."""
    from transformers import WhisperFeatureExtractor

    noise = numpy.random.RandomState(SEED).randn(_SECONDS * _RATE).astype("float32") * _LOUDNESS
    extract = WhisperFeatureExtractor(feature_size=model.config.num_mel_bins)
    features = extract(noise, sampling_rate=_RATE, return_tensors="pt").input_features
    start = torch.full((1, 1), model.config.decoder_start_token_id, dtype=torch.int64, device=device)
    return {"input_features": features.to(device), "decoder_input_ids": start}
