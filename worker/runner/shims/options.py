"""Options of one experiment, put in force in its process and read back.

A child is forked after torch was imported, so a variable that torch reads at import does nothing
in it: such a variable is turned into the configuration attribute that it stands for, and one that
cannot take effect is refused.
"""

import ast
import difflib
import inspect
import os

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config

from . import determinism
from .failures import OptionRefused

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

# Read when they are used, so they do work in a forked child.
_RUN_TIME_NAMES = ("CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE")
_RUN_TIME_PREFIXES = ("TRITON_", "DYNBENCH_MODEL_")
_OURS = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_VISIBLE_DEVICES")


def config_modules():
    return {"inductor": torch._inductor.config, "dynamo": torch._dynamo.config,
            "functorch": torch._functorch.config}


def _keys(module):
    return [key for key in module._config if not key.startswith("_")]


def typed(text, current, name):
    """`text` as the type of `current`; OptionRefused when it is not one."""
    def refuse(wanted):
        raise OptionRefused("%s=%s: expected %s (now %r)" % (name, text, wanted, current))

    if isinstance(current, bool):
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        refuse("true or false")
    for kind in (int, float):
        if isinstance(current, kind):
            try:
                return kind(text)
            except ValueError:
                refuse("a number")
    if isinstance(current, str):
        return text
    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        value = text
    if current is not None and not isinstance(value, type(current)):
        refuse("a %s in Python's notation" % type(current).__name__)
    return value


def set_config(room, key, text, in_force):
    module = config_modules()[room]
    if key not in module._config:
        near = difflib.get_close_matches(key, _keys(module), 1, 0.4)
        raise OptionRefused("%s has no option %r in PyTorch %s%s" % (
            room, key, torch.__version__, "; nearest: %s" % near[0] if near else ""))
    put(room, key, typed(text, getattr(module, key), "%s.%s" % (room, key)), in_force)


def put(room, key, value, in_force):
    """Sets one attribute and checks that it is what is read back."""
    module = config_modules()[room]
    setattr(module, key, value)
    read = getattr(module, key)
    if read != value:
        raise OptionRefused("%s.%s=%r has no effect: it reads back as %r (forced by the "
                            "environment of the worker?)" % (room, key, value, read))
    in_force["%s.%s" % (room, key)] = str(read)


def put_known(room, key, value, in_force):
    if key in config_modules()[room]._config:
        put(room, key, value, in_force)


def _words(node, functions, seen=()):
    """The string constants of an expression and of this module's functions that it calls."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
        elif isinstance(part, ast.Name) and part.id in functions and part.id not in seen:
            found |= _words(functions[part.id], functions, (*seen, part.id))
    return found


def _assignments(body, prefix=""):
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _assignments(node.body, prefix + node.name + ".")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _assignments(node.body + node.orelse, prefix)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield prefix + target.id, node.value


def variables_of(module):
    """{environment variable: [(key, expression)]} as the module's own source reads them."""
    tree = ast.parse(inspect.getsource(module))
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    table = {}
    for key, expression in _assignments(tree.body):
        if key in module._config:
            for word in _words(expression, functions):
                if word.isupper() and "_" in word:
                    table.setdefault(word, []).append((key, expression))
    return table


def _value_for(module, key, expression, name, text):
    """What `key` would have become had the variable been set at import."""
    current = getattr(module, key)
    if isinstance(expression, ast.Call) and getattr(expression.func, "id", "") == "Config":
        return {"1": True, "0": False}.get(text, text) if isinstance(current, bool) else typed(
            text, current, name)
    names = dict(vars(module))
    names.update((k, getattr(module, k)) for k in _keys(module) if "." not in k)
    return eval(compile(ast.Expression(expression), name, "eval"), names)  # noqa: S307


def set_variable(name, text, in_force):
    if name in _OURS:
        raise OptionRefused("%s is set by dynbench for every experiment; it cannot be given" % name)
    os.environ[name] = text
    found, every = False, set()
    for room, module in config_modules().items():
        table = variables_of(module)
        every |= set(table)
        for key, expression in table.get(name, []):
            try:
                value = _value_for(module, key, expression, name, text)
            except (ValueError, TypeError, NameError, AttributeError) as error:
                raise OptionRefused("%s=%s: %s" % (name, text, error)) from error
            put(room, key, value, in_force)
            found = True
    if not found and not (name in _RUN_TIME_NAMES or name.startswith(_RUN_TIME_PREFIXES)):
        near = difflib.get_close_matches(name, sorted(every), 1, 0.8)
        raise OptionRefused(
            "%s has no effect in a process that is forked after the imports%s; what must be in the "
            "environment of a program when it starts belongs to a launch profile, and a variable that "
            "only the model itself reads is called DYNBENCH_MODEL_..."
            % (name, " (nearest known: %s)" % near[0] if near else ""))
    in_force["env.%s" % name] = os.environ[name]


def _set_caches(cache_dir, in_force):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache_dir
    os.environ["TRITON_CACHE_DIR"] = os.path.join(cache_dir, "triton")
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        in_force["env.%s" % name] = os.environ[name]


def _set_graph_caches(loader, in_force):
    """As upstream's suites do: the graph cache everywhere, autograd's in two of the three."""
    put_known("inductor", "fx_graph_cache", True, in_force)
    if loader in ("huggingface", "torchbench"):
        put_known("functorch", "enable_autograd_cache", True, in_force)
    in_force["functorch.enable_autograd_cache"] = str(
        getattr(torch._functorch.config, "enable_autograd_cache", None))


def _set_compiler(options, in_force):
    put_known("inductor", "freezing", options["freezing"], in_force)
    put_known("inductor", "cpp_wrapper", options["cpp_wrapper"], in_force)
    put_known("inductor", "max_autotune", options["max_autotune"], in_force)
    put_known("inductor", "triton.cudagraphs", options["cudagraphs"], in_force)
    batch_only = options["dynamic_batch_only"] or options["unbacked_batch_only"]
    dynamic = options["dynamic_shapes"] and not batch_only
    put("dynamo", "assume_static_by_default", not dynamic, in_force)
    for room in ("inductor", "dynamo", "functorch"):
        for key, text in sorted(options[room + "_config"].items()):
            set_config(room, key, text, in_force)


def _set_threads(experiment, cores, in_force):
    # The ranks of a distributed experiment share the slot's cores.
    threads = experiment["threads"] or max(len(cores) // experiment["world_size"], 1)
    if threads:
        torch.set_num_threads(threads)
    if experiment["threads"]:
        put_known("inductor", "cpp.threads", threads, in_force)
    if cores:
        # Decided at import otherwise, from what the zygote may use.
        put_known("inductor", "compile_threads", len(cores), in_force)
    in_force["torch.num_threads"] = str(torch.get_num_threads())
    in_force["affinity"] = ",".join(map(str, sorted(os.sched_getaffinity(0))))


def set_optimize_ddp(word, in_force):
    """Dynamo takes a word, or a truth value for two of them."""
    known = ("ddp_optimizer", "python_reducer", "python_reducer_without_compiled_forward",
             "no_optimization")
    if word not in known:
        raise OptionRefused("optimize_ddp=%s: expected one of %s" % (word, ", ".join(known)))
    put("dynamo", "optimize_ddp", word, in_force)


def apply(experiment, cores, cache_dir):
    """Puts every option of the experiment in force; returns {name: value read back}."""
    in_force = {}
    _set_caches(cache_dir, in_force)
    _set_graph_caches(experiment["source"]["loader"], in_force)
    _set_threads(experiment, cores, in_force)
    _set_compiler(experiment["options"], in_force)
    for name, text in sorted(experiment["set_env"].items()):
        set_variable(name, text, in_force)
    if hasattr(torch.backends, "cuda"):
        torch.backends.cuda.matmul.allow_tf32 = True  # upstream's global state
        reduced = getattr(torch.backends.cuda, "allow_fp16_bf16_reduction_math_sdp", None)
        if reduced is not None:
            reduced(True)
    if experiment["optimize_ddp"]:
        set_optimize_ddp(experiment["optimize_ddp"], in_force)
    if determinism.wanted(experiment):
        determinism.put_in_force(experiment, in_force)
    if experiment["test"] == "accuracy":
        put_known("inductor", "fallback_random", True, in_force)
        put_known("dynamo", "suppress_errors", False, in_force)
    return in_force
