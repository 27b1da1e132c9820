"""Bots: ``greedy`` and what is added to it."""
