"""Until the loader first uses the device, and while the compiler traces and generates code, an attempt
needs the host only, and says so.

Dynamo tells the beginning and the end of each compilation, the backward's included. What it
benchmarks meanwhile is benchmarked in a window (autotuning.py). Recording a CUDA graph is told too,
and is work of the device. A compilation that computes on the device (folding constants, trial runs
of generated C++) is not told.
"""

_listeners = None  # (compilation begins, compilation ends)
_told = False
_at_first_use = None


def at_first_use(come):
    """`come` waits until this process may use the device, and makes it its own."""
    global _at_first_use
    _at_first_use = come


def first_use():
    """Before whatever uses the device first; later calls do nothing."""
    global _at_first_use
    come, _at_first_use = _at_first_use, None
    if come is not None:
        come()


def install(experiment, leave, come_back):
    """`leave` says that this process is off the device; `come_back` waits until it may use it."""
    global _listeners
    compiles = experiment["options"]["backend"] == "inductor"
    _listeners = (leave, come_back) if compiles else None
    listen()


def listen():
    """Again after every torch._dynamo.reset, which forgets who listens."""
    if _listeners is None:
        return
    try:
        from torch._dynamo.callback import CallbackTrigger, callback_handler
    except ImportError:  # this version does not say what it begins
        return
    on_the_host = [getattr(CallbackTrigger, name, None) for name in ("DYNAMO", "LAZY_BACKWARD")]

    def begins(args):
        global _told
        if _told or args.callback_trigger not in on_the_host or _computes_on_the_device():
            return
        _told = True
        _listeners[0]()

    def ends(_args):
        global _told
        if not _told:
            return
        _told = False
        _listeners[1]()

    callback_handler.register_start_callback(begins)
    callback_handler.register_end_callback(ends)


def _computes_on_the_device():
    from torch._inductor import config

    return (config.freezing or config.cpp_wrapper or config.max_autotune
            or config.max_autotune_gemm or config.max_autotune_pointwise)
