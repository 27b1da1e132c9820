"""Named suites of evaluation deals, and the rulebook.

A suite is a name with a version, an environment, a number of deals and the SHA-256 of the deals it stands for; the deals
are made on demand. Deal k of a suite comes from the stream (seed of the suite, k) in the domain of suites, which no
environment draws from, so nothing is trained on them by accident. What a version stands for never changes: other
deals get another version. Using the first n deals of a suite is fine; say so beside the result.

    >>> import seeds
    >>> suite = seeds.suite("bolola-hearts-v1")
    >>> suite.deals(2)[1]["starter"]  # what reset(options=...) takes to play this deal
    1
"""

from __future__ import annotations

from seeds.suites import SUITES, Suite, suite, suite_for, suite_names

__all__ = ["SUITES", "Suite", "suite", "suite_for", "suite_names"]
