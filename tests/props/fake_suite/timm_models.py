"""Stands in for upstream's timm_models.py: see common.py."""
from common import main

main("timm_models")
