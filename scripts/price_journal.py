"""price_journal.py: what price-share.py, price-where.py and price-scatter.py read of the journals of runs
with and without checks, and the interval that they give: cells, times, at which blocks checks ran."""
import gzip
import itertools
import json
import math
import random
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "figures"))
from journal_series import times_ns  # noqa: E402

REPEATS = 1000
WORD = (1 << 64) - 1


def entries(path):
    """The lines of a journal, packed or not."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file]


def cells(lines):
    """Cells by what they are of."""
    data = (entry["data"] for entry in lines if entry["kind"] == "cell")
    return {(c["mode"], c["m"], c["n"], c["k"], c["accumulate"]): c for c in data}


def blocks(cell):
    return sum(cell.get("group_blocks", []))


def logarithms(cell):
    """Of each contender, with the variant that ran: the logarithms of its headline times, one a block. Who
    missed a block is left out."""
    headline = cell["headline"]
    series = {
        (c["name"], str((c.get("tuning") or {}).get("variant"))): [math.log(ns) for ns in times_ns(c[headline])]
        for c in cell["contenders"]
        if headline in c
    }
    return {name: logs for name, logs in series.items() if len(logs) == blocks(cell)}


def scatters(cell):
    """Of each pair of contenders, with the variants that ran: the standard deviation of the logarithm of its
    ratio."""
    series = logarithms(cell)
    pairs = itertools.combinations(sorted(series), 2)
    return {
        (a, b): statistics.stdev(x - y for x, y in zip(series[a], series[b])) for a, b in pairs if len(series[a]) > 7
    }


def ratios(on, off):
    """Of a cell: how much more its pairs scatter with checks, as logarithms."""
    wide, narrow = scatters(on), scatters(off)
    return [math.log((wide[p] + 1e-5) / (narrow[p] + 1e-5)) for p in wide.keys() & narrow.keys()]


def spread(units, estimate):
    """Where the estimate lies in 95% of the repeats that draw as many units with replacement: shapes, not
    cells, for the cells of one shape are alike. Its own random numbers, so that it is the same each time."""
    draw = random.Random(1)
    found = sorted(estimate(draw.choices(units, k=len(units))) for _ in range(REPEATS))
    return found[int(0.025 * REPEATS)], found[int(0.975 * REPEATS)]


def by_shape(found, shape=lambda key: key[1:4]):
    """Keys of cells, or whatever has a shape, those of a shape together."""
    shapes = {}
    for one in found:
        shapes.setdefault(shape(one), []).append(one)
    return list(shapes.values())


# ---- where checks ran: random_derive of harness/base/random.c, chosen_block and next_block of honesty.c ----


def _split(state):
    state = (state + 0x9E3779B97F4A7C15) & WORD
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return state, z ^ (z >> 31)


def derive(seed, label, index):
    state, mixed = _split(seed)
    for byte in label.encode():
        state, z = _split(state ^ (byte * 0x100000001B3 & WORD))
        mixed ^= z
    return mixed ^ _split(state ^ index)[1]


def checked(run, cell):
    """The blocks with a check right behind them, of a run's record and a cell of plain layout. Another check
    comes at the end."""
    name = "{mode}/{dtype}-{accumulate}-{m}x{n}x{k}".format(**cell)
    seed, least = derive(int(run["seed"]), name, 0), run["config"]["stop"]["min_blocks"]
    block, index, out = 1 if least < 2 else 1 + derive(seed, "honesty", 0) % (least - 1), 0, []
    while block < blocks(cell):
        out.append(block)
        index += 1
        block = 2 * block + 1 + derive(seed, "honesty again", index) % (2 * (block + 1))
    return out
