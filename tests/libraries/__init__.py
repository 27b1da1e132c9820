"""The adapters to RL libraries that want an environment of their own: ``nox --sessions libraries``."""
