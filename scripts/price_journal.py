"""price_journal.py: what price-share.py, price-where.py and price-scatter.py read of the journals of runs
with and without checks, and the interval that they give: cells, times, at which blocks checks ran."""
import gzip
import json
import math
import random

DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
REPEATS = 1000
WORD = (1 << 64) - 1


def times(text):
    """The times of a series, in ns, as the journal writes them (harness/record/series_text.h)."""
    step, shortest, digits = text.split(":")
    out, value, shift = [], 0, 0
    for digit in digits:
        value |= (DIGITS[digit] & 31) << shift
        shift += 5
        if DIGITS[digit] < 32:
            out.append((value + float(shortest)) * float(step))
            value = shift = 0
    return out


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
        (c["name"], str((c.get("tuning") or {}).get("variant"))): [math.log(ns) for ns in times(c[headline])]
        for c in cell["contenders"]
        if headline in c
    }
    return {name: logs for name, logs in series.items() if len(logs) == blocks(cell)}


def spread(units, estimate):
    """Where the estimate lies in 95% of the repeats that draw as many units with replacement: shapes, not
    cells, for the cells of one shape are alike. Its own random numbers, so that it is the same each time."""
    draw = random.Random(1)
    found = sorted(estimate(draw.choices(units, k=len(units))) for _ in range(REPEATS))
    return found[int(0.025 * REPEATS)], found[int(0.975 * REPEATS)]


def by_shape(keys):
    """Keys of cells, those of a shape together."""
    shapes = {}
    for key in keys:
        shapes.setdefault(key[1:4], []).append(key)
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
