#!/usr/bin/env python3
"""halves.py: the ring of stages of kernels/persistent.cu with HALVES, its producer and its consumers taking turns by chance, alone, two on a
tile with TAIL or without, and two in turn (PINGPONG): nothing is overwritten while it is read, each stage is read in its turn, nobody counts
twice at a barrier, and nobody waits for ever. With HALVES of as many as there are stages, which a rule refuses, somebody may."""
import random

ALONE, TOGETHER, IN_TURN = "alone", "two on a tile", "two in turn"


class Ring:
    def __init__(self, stages, users):
        self.stages, self.users = stages, users
        self.full, self.empty, self.content = [0] * stages, [0] * stages, [None] * stages
        self.arrived, self.reading = [0] * stages, [set() for _ in range(stages)]
        self.turn = [0, 0]  # consumers that have passed the turn to 0, to 1, and have not been waited for

    def release(self, stage, who):
        self.reading[stage].discard(who)
        self.arrived[stage] += 1
        if self.arrived[stage] == self.users:
            self.arrived[stage], self.empty[stage] = 0, self.empty[stage] + 1

    def await_turn(self, who):
        while not self.turn[who]:
            yield
        self.turn[who] = 0

    def pass_turn(self, to):
        assert not self.turn[to], "counted twice"
        self.turn[to] = 1


def over(phases, parity):
    return phases & 1 != parity


def producer(ring, tiles, length):
    for step in range(tiles * length):
        stage = step % ring.stages
        while not over(ring.empty[stage], 1 - step // ring.stages % 2):
            yield
        assert not ring.reading[stage], "overwritten"
        ring.content[stage] = step
        yield
        ring.full[stage] += 1


def seen(ring, step, who):
    stage = step % ring.stages
    while not over(ring.full[stage], step // ring.stages % 2):
        yield
    assert ring.content[stage] == step, "not the stage whose turn it is"
    ring.reading[stage].add(who)


def consumer(ring, how, who, tiles, length, halves, tail):
    for tile in range(who, tiles, 2) if how == IN_TURN else range(tiles):
        if how == IN_TURN and tile > 0:
            yield from ring.await_turn(who)
        begin, previous = tile * length, None
        for k in range(length):
            if how == TOGETHER and tail and who == 1 and k == max(0, length - tail):
                yield from ring.await_turn(1)
            yield from seen(ring, begin + k, who)
            yield
            if k < length - halves:
                if previous is not None:
                    ring.release(previous, who)
                previous = (begin + k) % ring.stages
        yield
        if previous is not None:
            ring.release(previous, who)
        if how == TOGETHER and tail and who == 0:
            ring.pass_turn(1)
        if how == IN_TURN and tile + 1 < tiles:
            ring.pass_turn(1 - who)
        yield
        for k in range(length - halves, length):
            ring.release((begin + k) % ring.stages, who)
            yield


def ends(how, stages, halves, tail, chance):
    length = chance.randint(max(halves, stages if tail else 1), 14)
    tiles = chance.randint(1, 6)
    ring = Ring(stages, 2 if how == TOGETHER else 1)
    roles = [producer(ring, tiles, length)]
    roles += [consumer(ring, how, who, tiles, length, halves, tail) for who in range(1 if how == ALONE else 2)]
    weights = [chance.choice((1, 1, 5, 20)) for _ in roles]
    for _ in range(20000):
        at = chance.choices(range(len(roles)), weights)[0]
        if next(roles[at], "over") == "over":
            del roles[at], weights[at]
        if not roles:
            return True
    return False


for how in (ALONE, TOGETHER, IN_TURN):
    for stages in (2, 3, 4, 6, 8):
        for halves in range(1, min(5, stages + 1)):
            for tail in (0, 2, 3, 5) if how == TOGETHER else (0,):
                if tail < stages:
                    chance = random.Random(stages * 100 + halves * 10 + tail)
                    lost = sum(not ends(how, stages, halves, tail, chance) for _ in range(60))
                    print("%-13s %d stages, HALVES %d, TAIL %d: %s" % (
                        how, stages, halves, tail, "%d of 60 wait for ever" % lost if lost else "60 of 60 end"), flush=True)
