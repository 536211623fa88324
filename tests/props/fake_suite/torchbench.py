"""Stands in for upstream's torchbench.py: see common.py."""
from common import main

main("torchbench")
