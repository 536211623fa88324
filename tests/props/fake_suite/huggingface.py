"""Stands in for upstream's huggingface.py: see common.py."""
from common import main

main("huggingface")
