"""The imports that a zygote does once for all of its children."""

import importlib
import sys

# In this order; every child would pay for them otherwise (3 to 17 s).
REQUIRED = ("torch", "torch._dynamo", "torch._inductor.compile_fx", "torch.export", "numpy")
OPTIONAL = ("timm", "timm.data", "timm.models")
SHIMS = ("accuracy", "callables", "conditions", "failures", "headers", "loading", "options",
         "path_loader", "timm_loader")


def import_all():
    """Imports everything; returns {library: version}. ImportError names what is missing."""
    for name in REQUIRED:
        importlib.import_module(name)
    for name in OPTIONAL:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # an experiment that needs it says so when it loads its model
    for name in SHIMS:
        importlib.import_module("%s.%s" % (__package__, name))
    versions = {}
    for name in ("torch", "torchvision", "timm", "numpy", "triton"):
        module = sys.modules.get(name)
        if module is not None:
            versions[name] = str(getattr(module, "__version__", "unknown"))
    versions["python"] = sys.version.split()[0]
    return versions
