"""A head start: a policy learns to choose as a bot does, and a critic what the bot's games bring.

All four seats of many tables are played by the bot; every decision with a choice is an example (observation, mask, action,
return from there on). The policy is fitted by cross-entropy (behaviour cloning), the critic by squared error.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from baselines.extras import needs
from trick_core.batch import Batch
from trick_core.bots import Bot
from trick_core.game import Setup

with needs("train"):
    import torch


class Examples(NamedTuple):
    """Decisions of a bot; n of them."""

    observations: np.ndarray[Any, Any]  # int8 (n, D')
    masks: np.ndarray[Any, Any]  # bool (n, A)
    actions: np.ndarray[Any, Any]  # int64 (n,)
    returns: np.ndarray[Any, Any]  # float32 (n,): rewards of the seat from here to the end


def collect(batch: Batch, bot: Bot, size: int) -> Examples:
    """Play the next episode of every table with the bot in all seats.

    Args:
        batch: Tables with autoreset off, bytes as observations.
        bot: Plays all seats.
        size: Values of the observation to keep.
    """
    buffers = batch.buffers
    batch.reset()
    steps: list[tuple[Any, ...]] = []
    rewards = []
    while (live := buffers.seats >= 0).any():
        rows = np.flatnonzero(live)
        actions = np.zeros(batch.num_tables, np.int64)
        actions[rows] = batch.ask(bot, rows)
        mask = buffers.mask.astype(np.bool_)
        steps.append((buffers.obs[:, :size].copy(), mask, actions, buffers.seats.copy()))
        batch.step(actions, live)
        rewards.append(np.where(live[:, None], buffers.rewards, 0.0))
    left = np.cumsum(np.array(rewards)[::-1], axis=0)[::-1]
    parts = []
    for (observation, mask, action, seat), value in zip(steps, left, strict=True):
        chosen = np.flatnonzero((seat >= 0) & (mask.sum(axis=1) > 1))
        returns = value[chosen, seat[chosen]].astype(np.float32)
        parts.append((observation[chosen], mask[chosen], action[chosen], returns))
    return Examples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def imitate(
    policy: Any,
    setup: Setup,
    bot: Bot,
    *,
    size: int,
    seconds: float,
    seed: int,
    tables: int = 256,
    minibatch: int = 512,
    learning_rate: float = 2e-3,
    progress: Callable[[float, float], None] | None = None,
) -> float:
    """Fit an sb3-contrib policy to a bot's choices.

    Args:
        policy: A ``MaskableActorCriticPolicy``.
        setup: The environment with the rewards of training.
        bot: Whom to imitate.
        size: Values of the observation that the policy reads.
        seconds: Time to spend.
        seed: Of the deals and of the order of examples.
        tables: Tables played side by side.
        minibatch: Examples a gradient step, at most: all of an episode's if there are fewer.
        learning_rate: Adam's at the start; it falls linearly to 0.
        progress: Called with the share that is done and the agreement.

    Returns:
        Share of the last episodes' decisions in which the policy gave the bot's choice more than half of the chance, each measured
        before the step that fits it.
    """
    batch = Batch(setup, tables, autoreset="disabled")
    batch.buffers.tables["seed"] = np.uint64(seed) + np.arange(tables, dtype=np.uint64)
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate, eps=1e-5)
    order = np.random.default_rng(seed)
    examples = collect(batch, bot, size)  # compiles
    started, agreement = time.monotonic(), 0.0
    policy.set_training_mode(True)
    while (share := (time.monotonic() - started) / seconds) < 1.0:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1.0 - share)
        same = count = 0
        shuffled = order.permutation(len(examples.actions))
        size_now = min(minibatch, len(shuffled))
        for first in range(0, len(shuffled) - size_now + 1, size_now):
            rows = shuffled[first : first + size_now]
            observation = torch.as_tensor(examples.observations[rows])
            action = torch.as_tensor(examples.actions[rows])
            values, log_prob, _ = policy.evaluate_actions(
                observation, action, action_masks=examples.masks[rows]
            )
            target = torch.as_tensor(examples.returns[rows])
            loss = -log_prob.mean() + 0.5 * (values.flatten() - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
            same += int((log_prob.detach() > np.log(0.5)).sum())
            count += size_now
        agreement = same / max(count, 1)
        if progress is not None:
            progress(min(share, 1.0), agreement)
        examples = collect(batch, bot, size)
    return agreement
