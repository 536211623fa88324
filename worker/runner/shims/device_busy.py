"""How long the accelerator works on one call: its kernels as a profiler sees them, outside of the
timing. What a host is too slow to launch is not in it, so that a slow host and a slow kernel can be
told apart."""

import torch


def _activities(device):
    known = getattr(torch.profiler.ProfilerActivity, device.upper(), None)
    return [known] if known is not None else []


def busy_ns(spans):
    """Nanoseconds in at least one of the [begin, end) spans: kernels of several streams overlap."""
    total, reached = 0, None
    for begin, end in sorted(spans):
        if reached is None or begin > reached:
            total, reached = total + end - begin, end
        elif end > reached:
            total, reached = total + end - reached, end
    return total


def _spans(profiler):
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CPU:
            continue
        if getattr(event, "is_user_annotation", bool)():
            continue
        begin = event.start_ns()
        yield begin, begin + event.duration_ns()


def per_call_ms(device, call, calls, synchronize):
    """Milliseconds a call; None when nothing was seen on the device."""
    activities = _activities(device)
    if not activities:
        return None
    synchronize()
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(calls):
            call()
        synchronize()
    total = busy_ns(_spans(profiler))
    return total / calls / 1e6 if total else None
