"""The imports that a zygote does once for all of its children."""

import gc
import importlib
import sys

# In this order; every child would pay for them otherwise (3 to 17 s).
REQUIRED = ("torch", "torch._dynamo", "torch._inductor.compile_fx", "torch.export", "numpy")
OPTIONAL = ("timm", "timm.data", "timm.models", "transformers", "transformers.modeling_utils",
            "transformers.generation", "transformers.cache_utils", "torch.distributed.fsdp")
# What the compiler imports at its first call, with a warm and with a cold cache. Names differ between
# versions of torch; one that is missing is imported by the child that needs it.
COMPILER = (
    "torch._dynamo.backends.inductor", "torch._dynamo.dce_extra_outputs",
    "torch._dynamo.repro.after_dynamo", "torch._export.passes._node_metadata_hook",
    "torch._higher_order_ops.passes.inline_invoke_subgraph", "torch._inductor.codegen.cpp",
    "torch._inductor.codegen.cpp_wrapper_cpu", "torch._inductor.codegen.cpp_wrapper_gpu",
    "torch._inductor.codegen.cpp_wrapper_mps", "torch._inductor.codegen.cuda_combined_scheduling",
    "torch._inductor.codegen.halide", "torch._inductor.codegen.memory_planning",
    "torch._inductor.codegen.mps", "torch._inductor.codegen.pallas",
    "torch._inductor.codegen.python_wrapper_mtia", "torch._inductor.codegen.wrapper_fxir",
    "torch._inductor.codegen.xpu.xpu_combined_scheduling", "torch._inductor.compiler_bisector",
    "torch._inductor.cpp_builder", "torch._inductor.cpu_vec_isa", "torch._inductor.hooks",
    "torch._subclasses.schema_check_mode", "torch.distributed.tensor.experimental",
    "torch.export._trace", "torch.export._unlift", "torch.fx.experimental.validator",
    "torch.utils.cpp_extension", "setuptools")
SHIMS = ("accuracy", "accuracy_leaves", "accuracy_rules", "ahead_of_time", "batch_invariance",
         "batch_size_search", "callables", "compiling", "conditions", "determinism", "diagnostics",
         "distributed", "failures", "generation", "headers", "huggingface_inputs",
         "huggingface_loader", "loading", "losses", "memory", "minifier", "optimizers", "options",
         "path_loader", "quantization", "reporting", "requirements", "saved_outputs",
         "timm_loader", "tolerance_test", "torchbench_loader")


def _know_the_libraries():
    """Digests of torch's and triton's own sources, part of every key of the compiler's cache; and the
    list of backends. Remembered by torch for the life of a process. Files are read, no more: what
    else goes into a key (devices, compilers, options) is asked for in the child."""
    import torch._dynamo
    from torch._inductor import codecache

    torch._dynamo.list_backends(exclude_tags=())
    for name in ("torch_key", "triton_key"):
        getattr(codecache, name, lambda: None)()


def import_all():
    """Imports everything; returns {library: version}. ImportError names what is missing."""
    for name in REQUIRED:
        importlib.import_module(name)
    for name in OPTIONAL:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # an experiment that needs it says so when it loads its model
    for name in COMPILER:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: S112, an import that this build cannot do
            continue
    _know_the_libraries()
    for name in SHIMS:
        importlib.import_module("%s.%s" % (__package__, name))
    versions = {}
    for name in ("torch", "torchvision", "timm", "transformers", "numpy", "triton"):
        module = sys.modules.get(name)
        if module is not None:
            versions[name] = str(getattr(module, "__version__", "unknown"))
    versions["python"] = sys.version.split()[0]
    # Half a million objects that live as long as the process: a child's collector need not walk
    # them (0.3 s a time), nor copy their pages.
    gc.collect()
    gc.freeze()
    return versions
