"""Group-relative policy optimisation: advantages of a group, and the loss. Needs torch; called by train.py
and closed_loop.py."""
from __future__ import annotations

import torch
from torch import Tensor

CLIP = 0.2


def advantages(rewards: Tensor, scatter: float) -> Tensor:
    """How far each reward of a row is above the row's mean, in the row's spread.

    A spread below `scatter`, that of repeated measurements, is taken as that: noise is not blown up to a
    signal."""
    spread = rewards.std(dim=1, keepdim=True).clamp(min=scatter)
    return (rewards - rewards.mean(dim=1, keepdim=True)) / spread


def loss(now: Tensor, drawn: Tensor, advantage: Tensor, near: Tensor, weight: float) -> Tensor:
    """The clipped surrogate, and `weight` times an unbiased estimate of the divergence from another policy.

    now, drawn, near: log-likelihood of each sample under the policy, under the one that drew it, under the
    other."""
    ratio = (now - drawn).exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
    away = near - now
    return (weight * (away.exp() - away - 1) - gain).mean()
