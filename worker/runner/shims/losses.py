"""The loss of a training step, by loader: a scalar that needs no labels of ours."""

import torch

# Outputs whose logits are what counts, by class name: their modules are not imported for it.
_WITH_LOGITS = ("MaskedLMOutput", "Seq2SeqLMOutput", "CausalLMOutputWithCrossAttentions")


def mean_of(output):
    """The mean of every tensor, averaged over the parts of each list and dict."""
    if isinstance(output, torch.Tensor):
        return output.sum() / output.numel()  # mean() refuses integers
    if type(output).__name__ in _WITH_LOGITS:
        return mean_of(output.logits)
    if type(output).__name__ == "SquashedNormal":
        return output.mean.sum()
    if isinstance(output, dict):
        return sum(mean_of(part) for part in output.values()) / len(output)
    if isinstance(output, (list, tuple)):
        return sum(mean_of(part) for part in output) / len(output)
    raise NotImplementedError("no loss is known for an output of type %s" % type(output).__name__)


def first_of(output):
    """What a model computed itself, from the labels among its inputs."""
    return output[0]


def for_experiment(experiment):
    """loss(output) -> scalar tensor."""
    if experiment["source"]["loader"] == "huggingface":
        return first_of
    divisor = experiment["loss_divisor"]
    if divisor != 1:
        # Large losses make the order of additions visible in the gradients.
        return lambda output: mean_of(output) / divisor
    return mean_of
