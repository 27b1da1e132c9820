"""What all tests share: a slow machine or an uncompiled kernel is no failure of a property."""

from hypothesis import HealthCheck, settings

from trick_core.jit import JIT

# Examples are drawn from a fixed seed, so that a run of the suite can be repeated.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=50 if JIT else 5,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")
