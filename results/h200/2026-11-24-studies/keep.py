#!/usr/bin/env python3
"""keep.py [none|one|turns]: plays a CTA's ring through with KEEP and HOLD (persistent.cu, products.cuh), who goes next being chance: one
producer, two consumers, of a tile each in turn or both of every tile. A copy overwrites a slot as soon as it is asked for and is there some time later, in
any order; at each product, until its stage is handed back, the slot must hold the tile's lane and the step's k, and nobody may wait for ever.
What it must find: `none`, slots fewer than stages are not waited for; `one`, only the step HOLD ago is waited for, as at a31561d; `turns`, consumers
do not wait for their turns. Left out: clusters, TAIL, PEEK, one or three consumers, and that first stages are asked for early."""
import random
import sys


class Wrong(Exception):
    pass


class Ring:
    def __init__(self, stages, hold, steps, lanes, pingpong, fault, rnd):
        self.stages, self.hold, self.steps, self.lanes = stages, hold, steps, lanes
        self.pingpong, self.fault, self.rnd = pingpong, fault, rnd
        self.total = len(lanes) * steps
        self.kept = [None] * (hold or stages)   # of the kept operand: lane and k
        self.asked = 0                          # steps asked for
        self.coming = []                        # of these, what is not there yet
        self.loaded = [False] * self.total      # `full` of the step's stage has completed
        self.released = [0] * self.total        # consumers that have handed the step back
        self.users = 1 if pingpong else 2
        self.todo = [[t for t in range(len(lanes)) if not pingpong or t % 2 == c] for c in range(2)]
        self.at = [(0, 0), (0, 0)]              # place in `todo`, step
        self.behind = [None, None]              # the step multiplied last, not handed back yet

    def slot(self, step):
        return step % self.steps if self.hold else step % self.stages

    def done(self, step):
        return step < 0 or self.released[step] == self.users

    def held(self, tile):
        """Stages in a row of the same lane before the tile's."""
        first = tile
        while first > 0 and self.lanes[first - 1] == self.lanes[tile]:
            first -= 1
        return (tile - first) * self.steps

    def awaited(self):
        if not self.hold or self.fault == "none":
            return []
        before = range(self.hold, self.stages, self.hold)
        return before[:1] if self.fault == "one" else before

    def produce(self):
        if self.asked == self.total:
            return False
        tile, _ = divmod(self.asked, self.steps)
        keeps = self.held(tile) >= len(self.kept)
        if not self.done(self.asked - self.stages):
            return False
        if not keeps:
            if not all(self.done(self.asked - ago) for ago in self.awaited()):
                return False
            self.kept[self.slot(self.asked)] = None
        self.coming.append((self.asked, keeps))
        self.asked += 1
        return True

    def arrive(self):
        if not self.coming:
            return False
        step, keeps = self.coming.pop(self.rnd.randrange(len(self.coming)))
        tile, k = divmod(step, self.steps)
        if not keeps:
            self.kept[self.slot(step)] = self.lanes[tile], k
        self.loaded[step] = True
        return True

    def check(self, step):
        tile, k = divmod(step, self.steps)
        if self.kept[self.slot(step)] != (self.lanes[tile], k):
            raise Wrong("step %d of tile %d" % (k, tile))

    def hand_back(self, c):
        """Its products may have read until now."""
        step, self.behind[c] = self.behind[c], None
        self.check(step)
        self.released[step] += 1
        return True

    def end_tile(self, c):
        """Its last stage, some time after its last products were asked for."""
        return self.behind[c] is not None and self.at[c][1] == 0 and self.hand_back(c)

    def consume(self, c):
        place, k = self.at[c]
        if place == len(self.todo[c]):
            return False
        tile, step = self.todo[c][place], self.todo[c][place] * self.steps + k
        other = self.at[1 - c][0]
        ahead = other < len(self.todo[1 - c]) and self.todo[1 - c][other] < tile
        if not self.loaded[step] or self.pingpong and k == 0 and ahead and self.fault != "turns":
            return False
        self.check(step)
        if self.behind[c] is not None:
            self.hand_back(c)
        self.behind[c] = step
        self.at[c] = (place + 1, 0) if k + 1 == self.steps else (place, k + 1)
        return True

    def play(self):
        acts = [self.produce, self.arrive, lambda: self.consume(0), lambda: self.consume(1),
                lambda: self.end_tile(0), lambda: self.end_tile(1)]
        while not all(self.done(step) for step in range(self.total)):
            self.rnd.shuffle(acts)
            if not any(act() for act in acts):
                raise Wrong("nobody can go on: %d of %d asked for" % (self.asked, self.total))


def main(fault):
    rnd = random.Random(1)
    found, runs = 0, 0
    while runs < 20000:
        hold, stages = rnd.choice((0, 0, 1, 2, 4, 8)), rnd.randint(2, 9)
        if hold == stages:
            continue
        steps = hold or rnd.choice([s for s in range(1, stages + 1) if stages % s == 0])
        lanes = []
        while len(lanes) < 12:
            lanes += [len(lanes)] * rnd.randint(1, 7)
        runs += 1
        try:
            Ring(stages, hold, steps, lanes, rnd.random() < 0.5, fault, rnd).play()
        except Wrong as wrong:
            found += 1
            if found <= 3:
                print("stages %d, hold %d, steps %d, lanes %s: %s" % (stages, hold, steps, lanes, wrong))
    print("%d of %d runs wrong" % (found, runs))
    return 0 if bool(found) == bool(fault) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
