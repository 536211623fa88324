"""A model folder without a Model."""
