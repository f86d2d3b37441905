#!/usr/bin/env python3
"""draw-shapes.py: draws problems that nobody has searched, from a seed, as a config for `cudal2-bench run`.

    scripts/draw-shapes.py SEED >configs/unseen.json          the 1000 problems of a pre-registered test
    scripts/draw-shapes.py SEED --share 10 >part.json         every tenth of them, of each class alike
    scripts/draw-shapes.py SEED --explore >configs/explore.json   440 others for `tune --explore`, 60 of them with M up to 96

Classes: 350 multiples of 8, 200 multiples of 64, 150 odd sizes, 300 of language models (the layers of
configs/llm.json, M from 1 to 4096). Sizes are log-uniform from 16 to 16384. The label of a shape is its
class. The same seed and version of configs/llm.json give the same bytes. Nothing may be tuned on what a
committed config of this script holds.
"""
import argparse
import json
import math
import pathlib

LEAST, MOST = 16, 16384
TOKENS = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 4096]
CLASSES = [("mult8", 350, 8), ("mult64", 200, 64), ("odd", 150, 1), ("llm", 300, 0)]
EXPLORED = [("mult8", 160, 8), ("mult64", 60, 64), ("odd", 60, 1), ("llm", 100, 0), ("few", 60, -8)]
BYTES = 24 << 30  # of a problem's matrices, half precision: what fits several times on an 80 GB card


class Splitmix:
    """splitmix64: the same numbers on every machine and in every version of Python."""

    def __init__(self, seed):
        self.state = seed & (2**64 - 1)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & (2**64 - 1)
        return z ^ (z >> 31)

    def uniform(self):
        return self.next() / 2**64

    def pick(self, values):
        return values[self.next() % len(values)]


def size(draw, step):
    """A log-uniform size; an odd one for step 1, else a multiple of step."""
    value = LEAST * math.exp(draw.uniform() * math.log(MOST / LEAST))
    if step == 1:
        return min(int(value) | 1, MOST - 1)
    return max(step, min(MOST, step * round(value / step)))


def layers():
    path = pathlib.Path(__file__).resolve().parent.parent / "configs" / "llm.json"
    shapes = json.loads(path.read_text())["shapes"]
    return sorted({(s["n"], s["k"]) for s in shapes})


def drawn(draw, step, known):
    if step < 0:
        return (1 + draw.next() % 96, size(draw, -step), size(draw, -step))
    if step == 0:
        return (draw.pick(TOKENS), *draw.pick(known))
    return (size(draw, step), size(draw, step), size(draw, step))


def fits(m, n, k):
    return 2 * (m * n + n * k + m * k) <= BYTES


def shapes_of(seed, classes, seen):
    """Of each class a list of shapes; none that is in `seen` already."""
    known, out = layers(), []
    for index, (name, count, step) in enumerate(classes):
        draw = Splitmix(seed + (index << 32))
        of_class = []
        while len(of_class) < count:
            shape = drawn(draw, step, known)
            if shape not in seen and fits(*shape):
                seen.add(shape)
                of_class.append({"m": shape[0], "n": shape[1], "k": shape[2], "label": name})
        out.append(of_class)
    return out


def mixed(of_classes):
    """One list in which every class is spread evenly: who stops early has some of each."""
    placed = [((i + 0.5) / len(shapes), c, s) for c, shapes in enumerate(of_classes) for i, s in enumerate(shapes)]
    return [s for _, _, s in sorted(placed, key=lambda p: p[:2])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--share", type=int, default=1, metavar="N", help="every Nth of each class")
    parser.add_argument("--explore", action="store_true", help="shapes to gather data on, none of the test's")
    options = parser.parse_args()
    seen = set()
    if options.explore:
        test = json.loads((pathlib.Path(__file__).resolve().parent.parent / "configs" / "unseen.json").read_text())
        seen = {(s["m"], s["n"], s["k"]) for s in test["shapes"]}
    drawn_shapes = shapes_of(options.seed, EXPLORED if options.explore else CLASSES, seen)
    shares = [of_class[:: options.share] for of_class in drawn_shapes]
    shapes = mixed(shares) if options.explore else [s for of_class in shares for s in of_class]
    kind, use = ("explore", "data for a ranker") if options.explore else ("unseen", "nothing is ever tuned on them")
    argument = f"{options.seed}{' --explore' if options.explore else ''}"
    lines = ",\n".join("    " + json.dumps(s) for s in shapes)
    print(
        '{\n  "$schema": "./config.schema.json",\n  "schema": "cudal2-bench/config",\n  "schema_version": 1,\n'
        f'  "name": "{kind}-{options.seed}",\n'
        f'  "description": "{len(shapes)} problems drawn by scripts/draw-shapes.py {argument}; {use}.",\n'
        '  "modes": ["offline"],\n  "accumulate": ["f32"],\n'
        '  "stop": {"group_blocks": 1, "min_blocks": 8, "look_every": 2, "max_blocks": 512, "least_blocks": 24,\n'
        '           "max_cell_seconds": 3.2, "hopeless_share": 0.15},\n'
        '  "limits": {"launch_seconds": 10, "tune_seconds": 30},\n  "other_timings_every": 2,\n'
        f'  "shapes": [\n{lines}\n  ]\n}}'
    )


if __name__ == "__main__":
    main()
