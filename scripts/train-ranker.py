#!/usr/bin/env python3
"""train-ranker.py: learns the trees that correct the tuner's model (kernels/spaces/cudal2.trees) from
measured races.

    scripts/train-ranker.py [JOURNAL.jsonl.gz...] --write kernels/spaces/cudal2.trees
    scripts/train-ranker.py [JOURNAL.jsonl.gz...] --evaluate [results/ranker.json]
    scripts/train-ranker.py --folds trees.json

Data: the pooled searches of rl/data/h200.xz, the wide races of rl/data/offgrid.xz, and the journals that are
named, else those of results/*/explore and the races of results/*/fresh. Of a journal nothing is learned about
the problems of configs/unseen.json, by which choices are judged. Needs numpy and lightgbm (training alone:
pip install numpy lightgbm), and build/tests/rank_features. The same data give the same bytes.

What is learned is log(time / model's time), within a problem: by how much the model is wrong of one
configuration more than of the others. Configurations that are far from the fastest weigh little. --evaluate
leaves out whole shapes, whole sizes, or all that is off the grid, and prints by how many percent a choice is
slower than the fastest of its pool: of the model, of the trees, and of both as `run` races them (every eighth
is the model's). It learns from what is offline with fp32, and from the journals.
--folds learns from rl/data alone, once for each fold of rl/kernel_policy/split.py, and writes what the trees
expect of each line of a target problem that was held out (kernel_policy.folds reads it).
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "rl"))
from kernel_policy import races, records  # noqa: E402
from kernel_policy.lines import values_of  # noqa: E402
from kernel_policy.served import parameters_of  # noqa: E402
from kernel_policy.split import N_FOLDS, is_target, split  # noqa: E402

RACES = ROOT / "rl" / "data" / "offgrid.xz"
H200 = (132, 1980, 62914560, 1070530560000000, 4814000000000)  # a journal's figures of its device
UNIT = 1e-4  # of a leaf
UNASKED = ("log_m", "log_n", "log_k", "rows", "columns")  # by these, trees would learn shapes by heart
TREES, LEAVES, RATE = 240, 96, 0.08
FAR = 0.35  # a configuration so much slower (in logs) than its pool's fastest weighs 1/e
NEW_WEIGHT = 10.0  # of a row of a journal, over one of rl/data, as long as these are half of all
FASTEST = 96  # configurations of a pool, all of which are learned from
EVEN = 256.0  # rows of a pool; more weigh no more
FOLDS = 3
MODEL_EVERY = 8  # PRUNE_MODEL_EVERY of harness/choice/prune.h
SEED = 20261125


class Data:
    """Rows of measured configurations; `pool` numbers problems (shape, layout, accumulate type, mode,
    device)."""

    def __init__(self):
        self.lines, self.times, self.pool, self.pools = [], [], [], []

    def add_pool(self, problem, new, keyed_times):
        m, n, k, layout, accumulate, mode, figures = problem
        head = "%d %d %d %s %s %s %d" % (m, n, k, layout, accumulate, mode, new and mode == "offline")
        for key, time in keyed_times:
            self.lines.append((figures, head + " " + key))
            self.times.append(time)
            self.pool.append(len(self.pools))
        self.pools.append((problem, new))

    def finish(self, tool):
        """Fills in what the ranker is asked (X) and the model's times; drops what the set no longer has."""
        self.names = subprocess.run([tool], stdout=subprocess.PIPE, check=True, cwd=ROOT, text=True).stdout.split()
        out = np.zeros((len(self.lines), 1 + len(self.names)), np.float32)
        for figures in sorted({f for f, _ in self.lines}):
            rows = [i for i, (f, _) in enumerate(self.lines) if f == figures]
            text = "".join(self.lines[i][1] + "\n" for i in rows)
            made = subprocess.run([tool] + [str(f) for f in figures], input=text.encode(), stdout=subprocess.PIPE,
                                  check=True, cwd=ROOT).stdout
            out[rows] = np.frombuffer(made, np.float32).reshape(len(rows), -1)
        keep = out[:, 0] > 0
        self.kept = np.flatnonzero(keep)
        self.X, self.model = out[keep, 1:], out[keep, 0].astype(float)
        self.times, self.pool = np.array(self.times, float)[keep], np.array(self.pool)[keep]
        self.dropped = int((~keep).sum())
        best = np.full(len(self.pools), np.inf)
        np.minimum.at(best, self.pool, self.times)
        self.best = best
        self.slower = self.times / best[self.pool]
        self.new = np.array([new for _, new in self.pools])
        self.shapes = np.array([p[:3] for p, _ in self.pools])


def key_of(kernel, values):
    return kernel + ":" + ",".join("%s=%d" % item for item in values.items())


def add_records(data, path):
    made = records.load(path)
    for pool in made.pools:
        p = pool.problem
        rows = [(key_of(values_of(made.lines[i], made.usual)[0], parameters_of(made.lines[i], made.usual, p)), t)
                for i, t in zip(pool.lines, pool.times)]
        data.add_pool((p.m, p.n, p.k, p.layout, p.accumulate, p.mode, H200), False, rows)


def add_races(data, path):
    """Of scripts/pack-races.py, whose lines are keys."""
    made = records.load(path)
    for pool in made.pools:
        p = pool.problem
        data.add_pool((p.m, p.n, p.k, p.layout, p.accumulate, p.mode, H200), True, zip((made.lines[i] for i in pool.lines), pool.times))


def judged():
    return {(s["m"], s["n"], s["k"]) for s in json.loads((ROOT / "configs" / "unseen.json").read_text())["shapes"]}


def default_journals():
    found = [path for name in ("explore/*.jsonl.gz", "fresh/race.jsonl.gz") for path in (ROOT / "results").glob("*/" + name)]
    return sorted(found)


def add_journal(data, path):
    """Of each cell and layout what our contenders raced: those that name their configurations."""
    figures, unseen = None, judged()
    for kind, value in races.entries_of(path):
        if kind == "env":
            d = value["device"]
            figures = tuple(int(d[k]) for k in ("sm_count", "max_sm_clock_mhz", "l2_bytes", "peak_flops",
                                                "peak_bytes_per_s"))
        if kind != "cell" or (value["m"], value["n"], value["k"]) in unseen:
            continue
        pools = {}
        for contender, race in races.raced(value):
            pools.setdefault(races.layout_of(contender), []).extend(race)
        for layout, rows in pools.items():
            data.add_pool((value["m"], value["n"], value["k"], layout, value["accumulate"], value["mode"], figures),
                          True, rows)


# ---- learning ----


def weights_of(data, chosen):
    counts = np.bincount(data.pool[chosen], minlength=len(data.pools))
    near = np.exp(-np.log(data.slower[chosen]) / FAR)
    even = np.minimum(1.0, EVEN / np.maximum(1, counts))[data.pool[chosen]]
    weights, new = near * even, data.new[data.pool[chosen]]
    most = weights[~new].sum() / max(weights[new].sum(), 1e-9)
    return weights * np.where(new, min(NEW_WEIGHT, most), 1.0)


def target_of(data, chosen, weights):
    """log(time / model) less its weighted mean over the pool: what is the same for all chooses nothing."""
    wrong = np.log(data.times[chosen] / data.model[chosen])
    pool = data.pool[chosen]
    total = np.bincount(pool, weights=weights, minlength=len(data.pools))
    mean = np.bincount(pool, weights=weights * wrong, minlength=len(data.pools)) / np.maximum(total, 1e-9)
    return np.clip(wrong - mean[pool], -1.0, 1.0)


def thinned(data, chosen):
    """Of each pool the fastest, and every fourth of the others: these teach little and take long."""
    order = np.lexsort((data.times[chosen], data.pool[chosen]))
    pool = data.pool[chosen][order]
    first = np.searchsorted(pool, pool, side="left")
    place = np.arange(len(pool)) - first
    return np.sort(chosen[order[(place < FASTEST) | (place % 4 == 0)]])


def learn(data, chosen):
    import lightgbm
    chosen = thinned(data, chosen)
    weights = weights_of(data, chosen)
    asked = data.X[chosen].copy()
    asked[:, [data.names.index(name) for name in UNASKED]] = 0
    made = lightgbm.Dataset(asked, target_of(data, chosen, weights), weight=weights,
                            feature_name=data.names, params={"max_bin": 255, "verbose": -1})
    return lightgbm.train({"objective": "regression", "num_leaves": LEAVES, "learning_rate": RATE, "verbose": -1,
                           "min_data_in_leaf": 60, "lambda_l2": 1.0, "feature_fraction": 0.6, "bagging_fraction": 0.8,
                           "bagging_freq": 1, "seed": SEED, "deterministic": True, "force_row_wise": True,
                           "num_threads": 1}, made, TREES)


# ---- evaluating ----


def trust(data, learned, asked):
    """As trees_values (harness/choice/trees.c): halved for each feature outside of what was learned from."""
    seen, rows = data.X[learned], data.X[asked]
    outside = (rows < seen.min(axis=0)) | (rows > seen.max(axis=0))
    return 0.5 ** outside.sum(axis=1)


def merged(first, model):
    """As harness/choice/rank.c: every eighth place is for the model's first that is not there yet."""
    taken, lists = [], {False: list(first), True: list(model)}
    while len(taken) < min(16, len(first)):
        own = lists[len(taken) % MODEL_EVERY == MODEL_EVERY - 1]
        taken.append(own[0])
        lists = {k: [i for i in v if i != own[0]] for k, v in lists.items()}
    return taken


def regrets(data, chosen, trees, model):
    """Percent over the pool's fastest of the best of the first 1, 4, 8 and 16: by the model, by trees, by
    both."""
    out = {"model": [], "trees": [], "both": []}
    for rows in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(data.pool[chosen])) + 1):
        slower = data.slower[chosen[rows]]
        by_model = np.argsort(model[rows], kind="stable")
        by_trees = np.argsort(trees[rows], kind="stable")
        for who, order in (("model", by_model), ("trees", by_trees), ("both", merged(by_trees, by_model))):
            out[who].append([100 * (slower[order[:n]].min() - 1) for n in (1, 4, 8, 16)])
    return {who: np.array(values) for who, values in out.items()}


def table_row(name, values):
    cells = ["%5.2f / %5.2f / %5.1f" % (v.mean(), np.median(v), np.quantile(v, 0.9)) for v in values.T]
    print("%-42s %5d  %s" % (name, len(values), "   ".join(cells)), flush=True)


def evaluate_split(data, name, held, kinds, able):
    """`held`: a fold for each pool, -1: always learned from. `able`: the pools that there are."""
    score = np.full(len(data.times), np.nan)
    for fold in sorted(set(held[held >= 0])):
        learned = np.flatnonzero((held != fold)[data.pool] & able[data.pool])
        asked = np.flatnonzero((held == fold)[data.pool] & able[data.pool])
        score[asked] = learn(data, learned).predict(data.X[asked]) * trust(data, learned, asked)
    out = []
    for kind, pools in kinds.items():
        chosen = np.flatnonzero((pools & able & (held >= 0))[data.pool])
        if len(chosen) == 0:
            continue
        model = np.log(data.model[chosen])
        for who, values in regrets(data, chosen, model + score[chosen], model).items():
            table_row("%s, %s: %s" % (name, kind, who), values)
            out.append({"left_out": name, "problems": kind, "by": who, "pools": len(values),
                        "mean": [round(float(v), 2) for v in values.mean(axis=0)],
                        "median": [round(float(v), 2) for v in np.median(values, axis=0)]})
    return out


def folds_by(values, count):
    """A fold for each distinct value, the same on every machine."""
    distinct = sorted(set(values))
    draw = np.random.RandomState(SEED).permutation(len(distinct)) % count
    fold = dict(zip(distinct, draw))
    return np.array([fold[v] for v in values])


def evaluate(data):
    on_grid = np.array([all(s in GRID for s in p[:3]) for p, _ in data.pools])
    offline = np.array([p[4:6] == ("f32", "offline") for p, _ in data.pools])
    shape, new = data.shapes, data.new
    least = (shape & -shape).min(axis=1)
    few = shape[:, 0] <= 96
    kinds = {"grid": on_grid & ~new, "off the grid": ~on_grid & ~new, "new, M up to 96": new & few,
             "new, odd": new & ~few & (least < 8), "new, others": new & ~few & (least >= 8)}
    able = offline | new
    print("percent over the pool's fastest, mean / median / p90        first, best of 4, of 8, of 16")
    out = evaluate_split(data, "shapes", folds_by([tuple(s) for s in shape], FOLDS), kinds, able)
    out += evaluate_split(data, "all off the grid", np.where(on_grid, -1, 0), kinds, able)
    for size in SIZES:
        held = np.where((shape == size).any(axis=1), 0, -1)
        out += evaluate_split(data, "size %d" % size, held, {"grid": kinds["grid"]}, able)
    return out


UNKNOWN = 99.0  # of a line that the set no longer has: it comes last


def expected(data, made, fold):
    """For each target problem that a fold holds out, log time of each of its lines by trees that learned from
    the offline fp32 problems of all other shapes."""
    asked_shapes = {p.problem.shape for p in split(made, fold).test}
    of = np.array([p.problem.shape in asked_shapes for p in made.pools])
    able = np.array([p.problem.kind[1:] == ("f32", "offline") for p in made.pools])
    learned, asked = np.flatnonzero((able & ~of)[data.pool]), np.flatnonzero((able & of)[data.pool])
    rows = np.full(len(data.lines), UNKNOWN)
    rows[data.kept[asked]] = np.log(data.model[asked]) + learn(data, learned).predict(data.X[asked]) * trust(data, learned, asked)
    begins = np.cumsum([0] + [len(p.lines) for p in made.pools])
    return {p.problem.text(): [round(float(v), 5) for v in rows[begins[at]:begins[at + 1]]]
            for at, p in enumerate(made.pools) if of[at] and is_target(p)}


def write_folds(tool, path):
    data = Data()
    add_records(data, records.DATA)
    data.finish(tool)
    made, out = records.load(records.DATA), {}
    for fold in range(1, N_FOLDS + 1):
        out.update(expected(data, made, fold))
        print("fold %d: %d problems so far" % (fold, len(out)), flush=True)
    unknown = sum(v == UNKNOWN for each in out.values() for v in each)
    path.write_text(json.dumps(out) + "\n")
    print("%s: %d problems, %d lines, %d of which the set no longer has" % (path, len(out), sum(map(len, out.values())), unknown))


GRID = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384)
SIZES = (128, 2048, 12288)


# ---- writing ----


def float_down(value):
    """The largest float that is not over a threshold: a float is at most the one where it is at most the
    other."""
    made = np.float32(value)
    return made if float(made) <= value else np.nextafter(made, np.float32(-np.inf))


def shortest(value):
    """The shortest digits that strtof reads as this float."""
    made = str(np.float32(value))
    return made[:-2] if made.endswith(".0") else made


def tree_lines(tree):
    """Nodes in the order of their splits, so that children come after their parents; leaves as ~index."""
    nodes, leaves = [], []

    def walk(node):
        if "split_feature" not in node:
            leaves.append(round(node.get("leaf_value", 0.0) / UNIT))
            return ~(len(leaves) - 1)
        at = len(nodes)
        nodes.append(None)
        left, right = walk(node["left_child"]), walk(node["right_child"])
        nodes[at] = "%d %s %d %d" % (node["split_feature"], shortest(float_down(node["threshold"])), left, right)
        return at

    walk(tree)
    return ["%d" % len(nodes)] + nodes + [" ".join(str(v) for v in leaves)]


def write(data, booster, path):
    model = booster.dump_model()
    lines = ["cudal2-bench/trees 1", "cc 90", "features %d" % len(data.names)]
    for i, name in enumerate(data.names):
        lines.append("%s %s %s" % (name, shortest(data.X[:, i].min()), shortest(data.X[:, i].max())))
    lines.append("trees %d" % len(model["tree_info"]))
    for info in model["tree_info"]:
        lines += tree_lines(info["tree_structure"])
    path.write_text("\n".join(lines) + "\n")
    print("%s: %d bytes from %d rows of %d pools (%d rows dropped)" % (
        path, path.stat().st_size, len(data.times), len(data.pools), data.dropped))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journals", type=Path, nargs="*")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--evaluate", type=Path, nargs="?", const=Path("/dev/null"), metavar="FILE")
    parser.add_argument("--folds", type=Path, metavar="FILE")
    parser.add_argument("--tool", default=str(ROOT / "build" / "tests" / "rank_features"))
    options = parser.parse_args()
    if options.folds:
        write_folds(options.tool, options.folds)
        return
    data = Data()
    add_records(data, records.DATA)
    add_races(data, RACES)
    for path in options.journals or default_journals():
        add_journal(data, path)
    data.finish(options.tool)
    print("%d rows, %d pools, %d new, %d rows dropped" % (len(data.times), len(data.pools), data.new.sum(), data.dropped))
    if options.evaluate:
        made = evaluate(data)
        if str(options.evaluate) != "/dev/null":
            options.evaluate.write_text("[\n" + ",\n".join(json.dumps(row) for row in made) + "\n]\n")
    if options.write:
        write(data, learn(data, np.arange(len(data.times))), options.write)


if __name__ == "__main__":
    main()
