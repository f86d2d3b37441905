#!/usr/bin/env python3
"""keep.py [broken]: plays a CTA's ring through with KEEP and HOLD (persistent.cu, products.cuh), who goes next being chance: one producer, two
consumers, of a tile each in turn or both of every tile; a kept operand's slot takes its new box when the copy is asked for, the worst there is. At each
product the slot must hold the tile's lane and the step's k, and nobody may wait for ever. `broken`: slots fewer than stages are not waited
for (await_slot() left out), which it must find."""
import random
import sys


class Wrong(Exception):
    pass


def play(stages, hold, steps, lanes, pingpong, broken, rnd):
    held_slots = hold or stages
    total = len(lanes) * steps
    kept = [None] * held_slots          # of the kept operand: lane and k
    loaded = [False] * total            # `full` of the step's stage has completed
    released = [0] * total              # consumers that have handed the step back
    users = 1 if pingpong else 2
    asked = 0                           # steps asked for
    todo = [[t for t in range(len(lanes)) if not pingpong or t % 2 == c] for c in range(2)]
    at = [(0, 0), (0, 0)]               # tile of `todo`, step
    behind = [None, None]               # the step multiplied last, not handed back yet

    def held(tile):                     # stages in a row of the same lane before the tile's
        first = tile
        while first > 0 and lanes[first - 1] == lanes[tile]:
            first -= 1
        return (tile - first) * steps

    def done(step):
        return step < 0 or released[step] == users

    def produce():
        nonlocal asked
        tile, k = divmod(asked, steps)
        run = held(tile)
        if not done(asked - stages):
            return False
        if hold and run < hold and not broken and not all(done(asked - ago) for ago in range(hold, stages, hold)):
            return False
        if run < held_slots:
            kept[k if hold else asked % stages] = (lanes[tile], k)
        loaded[asked] = True
        asked += 1
        return True

    def consume(c):
        index, k = at[c]
        if index == len(todo[c]):
            return False
        tile = todo[c][index]
        step = tile * steps + k
        if not loaded[step]:
            return False
        if pingpong and k == 0 and tile > 0 and at[1 - c][0] < len(todo[1 - c]) and todo[1 - c][at[1 - c][0]] < tile:
            return False                # not its turn: the other has not asked for all of the tile before
        if kept[k if hold else step % stages] != (lanes[tile], k):
            raise Wrong("step %d of tile %d" % (k, tile))
        if behind[c] is not None:
            before, behind[c] = behind[c], None
            check_kept(before)
            released[before] += 1
        behind[c] = step
        if k + 1 == steps:              # the tile's last stage goes back when its products are done
            at[c] = (index + 1, 0)
        else:
            at[c] = (index, k + 1)
        return True

    def check_kept(step):               # its products may have read until now
        tile, k = divmod(step, steps)
        if kept[k if hold else step % stages] != (lanes[tile], k):
            raise Wrong("step %d of tile %d, before it was handed back" % (k, tile))

    def hand_back(c):                   # a tile's last stage, some time after its products were asked for
        if behind[c] is None or at[c][1] != 0:
            return False
        check_kept(behind[c])
        released[behind[c]] += 1
        behind[c] = None
        return True

    while asked < total or any(r < users for r in released):
        acts = [lambda c=c: consume(c) for c in range(2)] + [lambda c=c: hand_back(c) for c in range(2)]
        acts += [produce] if asked < total else []
        rnd.shuffle(acts)
        if not any(act() for act in acts):
            raise Wrong("nobody can go on: %d of %d asked for" % (asked, total))


def main(broken):
    rnd = random.Random(1)
    found, runs = 0, 0
    for _ in range(20000):
        hold = rnd.choice((0, 0, 1, 2, 4, 8))
        stages = rnd.randint(2, 9)
        if hold == stages:
            continue
        steps = hold or rnd.choice([s for s in range(1, stages + 1) if stages % s == 0])
        lanes, lane = [], 0
        while len(lanes) < 12:
            lanes += [lane] * rnd.randint(1, 7)
            lane += 1
        runs += 1
        try:
            play(stages, hold, steps, lanes, rnd.random() < 0.5, broken, rnd)
        except Wrong as wrong:
            found += 1
            if found <= 3:
                print("stages %d, hold %d, steps %d, lanes %s: %s" % (stages, hold, steps, lanes, wrong))
    print("%d of %d runs wrong" % (found, runs))
    return 1 if found and not broken or broken and not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["broken"]))
