"""Parameter lines as tokens, and the tables that keep a decoder among the lines that may be written.

A line is "persistent BM=128 BN=256 STAGES=4": a kernel and what differs from its usual values, in a fixed
order. Each word is one token. Standard library only; used by the policy, the searches and the tests.
"""
from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Set, Tuple

PAD, END = 0, 1
FIRST_WORD = 2


class Vocabulary:
    """Words to token numbers and back; 0 fills up, 1 ends a line."""

    def __init__(self, lines: Iterable[str]):
        words = sorted({word for line in lines for word in line.split()})
        self.words: List[str] = ["<pad>", "<end>"] + words
        self.number: Dict[str, int] = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, line: str) -> List[int]:
        """KeyError for a word that no line had."""
        return [self.number[word] for word in line.split()] + [END]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(self.words[t] for t in tokens if t >= FIRST_WORD)


def next_words(lines: Sequence[Sequence[int]]) -> Dict[Tuple[int, ...], Set[int]]:
    """For each beginning of a line: the tokens that may follow it."""
    allowed: Dict[Tuple[int, ...], Set[int]] = {}
    for line in lines:
        for at in range(len(line)):
            allowed.setdefault(tuple(line[:at]), set()).add(line[at])
    return allowed


def values_of(line: str, usual: Dict[str, Dict[str, int]]) -> Tuple[str, Dict[str, int]]:
    """The kernel and all its parameters, those that the line leaves out at their usual value."""
    kernel, *words = line.split()
    values = dict(usual[kernel])
    values.update((name, int(value)) for name, value in (word.split("=") for word in words))
    return kernel, values


def difference(a: Tuple[str, Dict[str, int]], b: Tuple[str, Dict[str, int]]) -> int:
    """In how many parameters two configurations differ; different kernels differ in all."""
    if a[0] != b[0]:
        return 99
    return sum(a[1][name] != b[1][name] for name in a[1])
