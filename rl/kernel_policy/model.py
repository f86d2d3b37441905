"""The policy: a decoder that reads a problem (and what is retrieved for it) and writes a parameter line, word
by word.

The prompt is a few vectors: the problem's sizes and what follows from them on 132 multiprocessors, its kind,
and one vector for each retrieved line. It is read once, and all lines of a problem share it. Needs torch;
called by train.py.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

NEVER = -1e9
N_RELATIONS = 5  # where a retrieved line is from (3), how it did there, its rank


@dataclass(frozen=True)
class Size:
    """`small` is what two CPU cores train in a quarter of an hour; `large` is meant for a GPU."""
    width: int
    layers: int
    heads: int
    longest: int = 16

    def parameters(self) -> Dict[str, int]:
        return asdict(self)


SIZES = {"tiny": Size(32, 2, 2), "small": Size(64, 2, 4), "large": Size(384, 7, 6)}


class Prompt(NamedTuple):
    """Of B problems. Retrieved lines are bags of words, 0 where there are fewer."""
    numbers: Tensor    # B x F, float
    kind: Tensor       # B x 3: layout, accumulate type, mode
    words: Tensor      # B x R x W
    relations: Tensor  # B x R x N_RELATIONS or more, float: what is known of a retrieved line; counters at the end
    source: Tensor     # B x R: 0 none, 1 a neighbour's best, 2 the tuner's ranking

    def on(self, device: torch.device) -> "Prompt":
        return Prompt(*(t.to(device) for t in self))


Cache = List[Tuple[Tensor, Tensor]]


class Layer(nn.Module):
    def __init__(self, size: Size):
        super().__init__()
        self.heads = size.heads
        self.before_attention, self.before_feed = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.query_key_value = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)
        self.feed = nn.Sequential(nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width))

    def forward(self, x: Tensor, past: Optional[Tuple[Tensor, Tensor]], mask: Optional[Tensor]
                ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        rows, length, width = x.shape
        q, k, v = (t.view(rows, length, self.heads, width // self.heads).transpose(1, 2)
                   for t in self.query_key_value(self.before_attention(x)).chunk(3, dim=-1))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(rows, length, width))
        return x + self.feed(self.before_feed(x)), (k, v)


class Policy(nn.Module):
    def __init__(self, size: Size, n_words: int, n_numbers: int, n_relations: int = N_RELATIONS):
        super().__init__()
        self.size = size
        self.word = nn.Embedding(n_words, size.width, padding_idx=0)
        self.begin = nn.Parameter(torch.randn(size.width) * 0.02)
        self.position = nn.Embedding(size.longest, size.width)
        self.numbers = nn.Sequential(nn.Linear(n_numbers, 2 * size.width), nn.GELU(), nn.Linear(2 * size.width, size.width))
        self.kind = nn.ModuleList(nn.Embedding(2, size.width) for _ in range(3))
        self.relation = nn.Sequential(nn.Linear(N_RELATIONS, size.width), nn.GELU(), nn.Linear(size.width, size.width))
        self.source = nn.Embedding(3, size.width)
        self.layers = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.last = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, n_words)
        self._widen(n_relations - N_RELATIONS)

    def _widen(self, more: int) -> None:
        """What else is known of a retrieved line has no weight in the beginning: with it and without it
        training begins alike."""
        first = self.relation[0]
        if more > 0 and isinstance(first, nn.Linear):
            first.weight = nn.Parameter(torch.cat([first.weight.detach(), torch.zeros(first.out_features, more)], dim=1))
            first.in_features += more

    def n_relations(self) -> int:
        return int(self.state_dict()["relation.0.weight"].shape[1])

    def adopt(self, state: Dict[str, Tensor]) -> None:
        """The weights of another policy of this kind. ValueError where it was told more or less of retrieved
        lines."""
        theirs = state["relation.0.weight"].shape[1]
        if theirs != self.n_relations():
            raise ValueError("the policy was trained with %d counters of each retrieved line, here there are %d" % (
                max(0, theirs - N_RELATIONS - 1), max(0, self.n_relations() - N_RELATIONS - 1)))
        self.load_state_dict(state)

    def n_parameters(self) -> int:
        return sum(p.numel() for p in self.parameters())

    def read(self, prompt: Prompt) -> Tuple[Cache, Tensor]:
        """Keys and values of each layer for the prompt, and which of its places are there (B x places)."""
        x = self.numbers(prompt.numbers) + sum(e(prompt.kind[:, i]) for i, e in enumerate(self.kind))
        x = x.unsqueeze(1)
        there = torch.ones_like(prompt.kind[:, :1], dtype=torch.bool)
        if prompt.words.shape[1] > 0:
            lines = self.word(prompt.words).sum(dim=2) + self.relation(prompt.relations) + self.source(prompt.source)
            x, there = torch.cat([x, lines], dim=1), torch.cat([there, prompt.source > 0], dim=1)
        caches: Cache = []
        for layer in self.layers:
            x, cache = layer(x, None, there[:, None, None, :])
            caches.append(cache)
        return caches, there

    def follow(self, lines: Tensor, caches: Cache, there: Tensor) -> Tensor:
        """Logits (rows x length x words) for each word of lines (rows x length), each given those before
        it."""
        rows, length = lines.shape
        x = torch.cat([self.begin.expand(rows, 1, -1), self.word(lines[:, :-1])], dim=1)
        x = x + self.position.weight[:length]
        causal = torch.ones(length, length, dtype=torch.bool, device=lines.device).tril()
        mask = torch.cat([there[:, None, None, :].expand(-1, -1, length, -1), causal.expand(rows, 1, -1, -1)], dim=3)
        for layer, cache in zip(self.layers, caches):
            x, _ = layer(x, cache, mask)
        logits: Tensor = self.head(self.last(x))
        return logits

    def write_one(self, word: Optional[Tensor], at: int, caches: Cache, there: Tensor) -> Tuple[Tensor, Cache, Tensor]:
        """Logits for place `at` of each row's line after its word before (None at the beginning); the caches
        grow."""
        first = self.begin.expand(there.shape[0], -1) if word is None else self.word(word)
        x = (first + self.position.weight[at]).unsqueeze(1)
        there = torch.cat([there, torch.ones_like(there[:, :1])], dim=1)
        grown: Cache = []
        for layer, cache in zip(self.layers, caches):
            x, cache = layer(x, cache, there[:, None, None, :])
            grown.append(cache)
        return self.head(self.last(x[:, 0])), grown, there


def repeat(caches: Cache, there: Tensor, times: int) -> Tuple[Cache, Tensor]:
    """The prompt's caches for `times` lines of each problem, side by side."""
    return ([(k.repeat_interleave(times, 0), v.repeat_interleave(times, 0)) for k, v in caches],
            there.repeat_interleave(times, 0))


class Choices(NamedTuple):
    """The lines that may be written, of B problems, and how likely each is before the policy says
    anything."""
    lines: Tensor    # B x lines x length; 0 fills up
    weights: Tensor  # B x lines; 0 where there is no line

    def on(self, device: torch.device) -> "Choices":
        return Choices(*(t.to(device) for t in self))

    def spread(self, times: int) -> "Choices":
        return Choices(self.lines.repeat_interleave(times, 0), self.weights.repeat_interleave(times, 0))


def words_ahead(choices: Choices, alive: Tensor, at: int, n_words: int) -> Tensor:
    """Log of the weight of the lines that are alive and have each word at place `at`: rows x words. NEVER for
    none."""
    sums = torch.zeros(choices.lines.shape[0], n_words, device=choices.lines.device)
    sums.scatter_add_(1, choices.lines[:, :, at], choices.weights * alive)
    return sums.log().clamp(min=NEVER)


def words_along(choices: Choices, lines: Tensor, n_words: int) -> Tensor:
    """words_ahead at each place of some lines of each problem (B x n x length): (B * n) x length x words."""
    wide, flat = choices.spread(lines.shape[1]), lines.flatten(0, 1)
    alive, out = torch.ones_like(wide.weights), []
    for at in range(flat.shape[1]):
        out.append(words_ahead(wide, alive, at, n_words))
        alive = alive * (wide.lines[:, :, at] == flat[:, at:at + 1])
    return torch.stack(out, dim=1)


def log_probabilities(logits: Tensor, lines: Tensor, ahead: Optional[Tensor]) -> Tensor:
    """Of each line, the sum over its words; among lines that may be written if `ahead` (words_along) is
    given."""
    if ahead is not None:
        logits = logits + ahead
    chosen = logits.gather(2, lines.unsqueeze(2)).squeeze(2) - logits.logsumexp(dim=2)
    return (chosen * (lines > 0)).sum(dim=1)


@torch.no_grad()
def sample(policy: Policy, prompt: Prompt, choices: Choices, count: int, generator: torch.Generator
           ) -> Tuple[Tensor, Tensor]:
    """Writes `count` lines for each problem, word by word, among its choices.

    Returns the lines (B x count x length) and which choice each one is (B x count)."""
    problems, _, length = choices.lines.shape
    caches, there = repeat(*policy.read(prompt), count)
    wide, word, words = choices.spread(count), None, []
    alive = (wide.weights > 0).float()
    for at in range(length):
        logits, caches, there = policy.write_one(word, at, caches, there)
        chances = (logits + words_ahead(wide, alive, at, logits.shape[1])).softmax(dim=1)
        word = torch.multinomial(chances, 1, generator=generator).squeeze(1)
        alive = alive * (wide.lines[:, :, at] == word.unsqueeze(1))
        words.append(word)
    lines = torch.stack(words, dim=1).view(problems, count, length)
    return lines, alive.argmax(dim=1).view(problems, count)


@torch.no_grad()
def write_freely(policy: Policy, prompt: Prompt, count: int, generator: torch.Generator) -> Tensor:
    """Writes `count` lines for each problem with nothing to keep it among lines that exist: B x count x
    longest."""
    caches, there = repeat(*policy.read(prompt), count)
    word, words = None, []
    going = torch.ones(there.shape[0], dtype=torch.long, device=there.device)
    for at in range(policy.size.longest):
        logits, caches, there = policy.write_one(word, at, caches, there)
        logits[:, 0] = NEVER
        word = torch.multinomial(logits.softmax(dim=1), 1, generator=generator).squeeze(1) * going
        going = going * (word > 1)
        words.append(word)
    return torch.stack(words, dim=1).view(-1, count, policy.size.longest)
