"""What of dynbench has to be Python: loading models, building callables, setting options.

The runner imports this folder as the package `dynbench_shims` before it forks anything, so nothing
here may touch a tensor when it is imported.
"""
