"""Weights and activations in fewer bits, by torchao; upstream's names of the schemes."""

import importlib.util

from .failures import CapabilityMissing, OptionRefused

# scheme: the configuration classes of newer torchao, and the functions of older ones
_SCHEMES = {
    "int8dynamic": ("Int8DynamicActivationInt8WeightConfig",
                    "int8_dynamic_activation_int8_weight"),
    "int8weightonly": ("Int8WeightOnlyConfig", "int8_weight_only"),
    "int4weightonly": ("Int4WeightOnlyConfig", "int4_weight_only"),
}


def check(scheme):
    """Before anything is loaded."""
    if scheme not in (*_SCHEMES, "autoquant", "noquant"):
        raise OptionRefused("no quantization %r; there are: %s" % (
            scheme, ", ".join((*_SCHEMES, "autoquant", "noquant"))))
    if importlib.util.find_spec("torchao") is None:
        raise CapabilityMissing("torchao", "quantization needs torchao, which is not installed")


def _library():
    try:
        import torchao.quantization as library
    except Exception as error:
        raise CapabilityMissing("torchao", "quantization needs torchao, which cannot be imported "
                                "here: %s" % error) from error
    return library


def quantize(scheme, model):
    """`model` changed in place and returned; CapabilityMissing where torchao cannot do it."""
    check(scheme)
    library = _library()
    if scheme == "noquant":
        return model
    if scheme == "autoquant":
        if not hasattr(library, "autoquant"):
            raise CapabilityMissing("torchao.autoquant", "this torchao has no autoquant")
        return library.autoquant(model)
    for name in _SCHEMES[scheme]:
        if hasattr(library, name):
            library.quantize_(model, getattr(library, name)())
            return model
    raise CapabilityMissing("torchao." + scheme, "this torchao has no scheme %s" % scheme)
