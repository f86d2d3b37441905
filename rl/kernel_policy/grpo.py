"""Group-relative policy optimisation: advantages of a group, and the loss. Needs torch; called by train.py
and closed_loop.py."""
from __future__ import annotations

import torch
from torch import Tensor

CLIP = 0.2
ABSENT = -1e9  # a log-likelihood that is as good as none, and finite


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


def whole_loss(now: Tensor, near: Tensor, rewards: Tensor, scatter: float, weight: float) -> Tensor:
    """The same for groups of which every line's likelihood is known, so that none has to be drawn again:
    minus what is expected of the policy among a group's lines, in the group's spread, and `weight` times the
    divergence.

    now, near: log-likelihood of each line (groups x lines) under the policy and under the other one, which
    also says how much a line counts in the spread; ABSENT where there is no line."""
    among, other = now.log_softmax(dim=1), near.log_softmax(dim=1)
    chance, usual = among.exp(), other.exp()
    middle = (usual * rewards).sum(dim=1, keepdim=True)
    spread = (usual * (rewards - middle) ** 2).sum(dim=1, keepdim=True).sqrt().clamp(min=scatter)
    gain = (chance * (rewards - middle) / spread).sum(dim=1)
    away = (chance * (among - other)).sum(dim=1)
    return (weight * away - gain).mean()
