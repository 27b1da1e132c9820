"""The parts of the evaluation; :mod:`baselines.evaluate` is what users import."""
