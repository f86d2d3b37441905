#!/usr/bin/env python3
"""ring.py: the ring of stages of kernels/persistent.cu with PEEK, its producer and one consumer taking turns by chance: nothing is
overwritten while it is read, each stage is read in its turn, and nobody waits for ever. With two stages somebody does."""
import random


def over(phases, parity):
    return phases & 1 != parity  # what mbarrier.test_wait.parity says of a barrier that has completed so many phases


def producer(ring, lengths, ahead):
    stage, parity, filled = 0, 1, 0
    for tile, length in enumerate(lengths):
        for k in range(length):
            if tile or k >= ahead:
                while not over(ring["empty"][stage], parity):
                    yield
            assert stage not in ring["reading"], "overwritten"
            ring["content"][stage] = filled
            filled += 1
            yield
            ring["full"][stage] += 1
            stage += 1
            if stage == len(ring["full"]):
                stage, parity = 0, parity ^ 1


def consumer(ring, lengths):
    stages, at, parity, read = len(ring["full"]), 0, 0, 0

    def release(stage):
        ring["reading"].discard(stage)
        ring["empty"][stage] += 1

    for length in lengths:
        before, previous, ready = -1, at, False
        for k in range(length):
            stage = at
            if not ready:
                while not over(ring["full"][stage], parity):
                    yield
            assert ring["content"][stage] == read, "not the stage whose turn it is"
            read += 1
            ring["reading"].add(stage)
            at += 1
            if at == stages:
                at, parity = 0, parity ^ 1
            ready = over(ring["full"][at], parity) and k + 1 < length
            yield
            if before >= 0:
                release(before)
            yield
            if k:
                before, previous = previous, stage
        if length > 1:
            release(before)
        yield
        release(previous)


def ends(stages, lengths, ahead, chance):
    ring = {name: [0] * stages for name in ("full", "empty", "content")} | {"reading": set()}
    roles = [producer(ring, lengths, ahead), consumer(ring, lengths)]
    for _ in range(100000):
        role = chance.choice(roles)
        if next(role, "over") == "over":
            roles.remove(role)
        if not roles:
            return True
    return False


for stages in (2, 3, 4, 5, 8):
    lost = 0
    for seed in range(300):
        chance = random.Random(seed * 7 + stages)
        lengths = [chance.randint(1, 20)] * chance.randint(1, 5)
        lost += not ends(stages, lengths, min(chance.choice([1, 2, 4]), stages), chance)
        if lost:
            break
    print("%d stages: %s" % (stages, "somebody waits for ever" if lost else "300 runs of 300 end"))
