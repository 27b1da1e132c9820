"""Trainers, one self-contained file a library."""
