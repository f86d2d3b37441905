#!/usr/bin/env python3
"""portfolio.py: chooses the kernels that are compiled ahead for problems that nobody searched, and says what
a choice among them alone loses.

    scripts/portfolio.py --evaluate results/portfolio.json
    scripts/portfolio.py --write kernels/spaces/cudal2.portfolio [--size 128]

A kernel is what needs a compilation of its own: a layout and the parameters that are no launch's (which are
is said by the kernels' manifests). Data: the searches of results/*/explore. What a search did not race of a
problem is expected by trees (those of train-ranker.py, learned without the problem's shape) and by the
searched configurations' ratio to them.
Kernels are taken one by one, each time the one that shortens the times of the problems most (geometric mean).
--evaluate leaves out a third of the shapes at a time. Needs what train-ranker.py needs.
"""
import argparse
import functools
import importlib.util
import json
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SIZES = (32, 64, 128, 256)
FIRST = (1, 8, 16)
LEAST = 30  # configurations that a search must have raced
GUESSED = 1.02  # what is expected counts as so much slower: the least of many guesses is a lucky one
FAR = 2.0  # the model's fastest: what is slower is not asked about, as in choice/prune.h
MISSING = 2.0  # a problem of which a portfolio has nothing counts as so much slower


def ranker():
    spec = importlib.util.spec_from_file_location("train_ranker", ROOT / "scripts" / "train-ranker.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@functools.cache
def launch_parameters(kernel):
    """The parameters that the kernel's manifest gives to a launch: a compilation does not know them."""
    parameters = json.loads((ROOT / "kernels" / (kernel + ".json")).read_text())["parameters"]
    return {name for name, said in parameters.items() if said.get("launch")}


def kernel_of(layout, key):
    """What is compiled: the key without the launch's parameters."""
    name, _, values = key.partition(":")
    launch = launch_parameters(name)
    return layout + " " + name + ":" + ",".join(v for v in values.split(",") if v.split("=")[0] not in launch)


def greedy(logs, most):
    """Columns of `logs` (a row a problem, log of a time over the problem's best, inf: cannot), best first."""
    have, taken = np.full(len(logs), np.log(MISSING)), []
    while len(taken) < most:
        gains = np.maximum(have[:, None] - logs, 0).sum(axis=0)
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        taken.append(best)
        have = np.minimum(have, logs[:, best])
    return taken


def losses(guess, time, allowed):
    """Percent over the best of all, of one problem: the best of those allowed, and the best of the ranker's
    first few."""
    which = np.flatnonzero(allowed & np.isfinite(time))
    if len(which) == 0:
        return [100 * (MISSING - 1)] * (1 + len(FIRST))
    order = which[np.argsort(guess[which], kind="stable")]
    best = time[np.isfinite(time)].min()
    return [100 * (time[order[:n]].min() / best - 1) for n in (len(order),) + FIRST]


def summary(values):
    values = np.array(values)
    return {"mean": [round(float(v), 2) for v in values.mean(axis=0)],
            "p90": [round(float(v), 2) for v in np.quantile(values, 0.9, axis=0)]}


class Table:
    """Problems by kernels: `time` as raced or expected, `raced` as raced alone (inf: not raced), `guess` as
    the ranker expects."""

    def __init__(self, train, data, tool, folds):
        of_journal = [i for i, (p, new) in enumerate(data.pools) if new]
        rows = {i: {} for i in of_journal}
        for at in np.flatnonzero(data.new[data.all_pool]):
            key = data.lines[at][1].split()[7]
            rows[data.all_pool[at]][key] = min(data.all_times[at], rows[data.all_pool[at]].get(key, np.inf))
        self.pools = [i for i in of_journal if len(rows[i]) >= LEAST]
        keys = sorted({k for i in self.pools for k in rows[i]})
        self.kernels = sorted({kernel_of(data.pools[i][0][3], k) for i in self.pools for k in rows[i]})
        column = {k: n for n, k in enumerate(self.kernels)}
        shape = (len(self.pools), len(self.kernels))
        self.time, self.raced, self.guess = np.full(shape, np.inf), np.full(shape, np.inf), np.full(shape, np.inf)
        self.problems = [data.pools[i][0] for i in self.pools]
        self.fold = folds[self.pools]
        for fold in sorted(set(self.fold)):
            learned = np.flatnonzero(data.able[data.pool] & (folds != fold)[data.pool])
            booster = train.learn(data, learned)
            seen = data.X[learned].min(axis=0), data.X[learned].max(axis=0)
            for at in np.flatnonzero(self.fold == fold):
                self.fill(at, data, rows[self.pools[at]], keys, column, (tool, booster, seen))

    def fill(self, at, data, raced, keys, column, how):
        tool, booster, (low, high) = how
        m, n, k, layout, accumulate, mode, figures = self.problems[at]
        head = "%d %d %d %s %s %s 1 " % (m, n, k, layout, accumulate, mode)
        text = "".join(head + key + "\n" for key in keys)
        made = subprocess.run([tool] + [str(f) for f in figures] + ["takes"], input=text.encode(),
                              stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout
        rows = np.frombuffer(made, np.float32).reshape(len(keys), -1)
        model, X = rows[:, 0].astype(float), rows[:, 1:]
        known = np.array([key in raced for key in keys])
        model[model == 0] = np.inf
        wanted = np.flatnonzero((model <= FAR * model.min()) | (known & np.isfinite(model)))
        expected = np.full(len(keys), np.inf)
        if len(wanted):
            trust = 0.5 ** ((X[wanted] < low) | (X[wanted] > high)).sum(axis=1)
            expected[wanted] = np.log(model[wanted]) + booster.predict(X[wanted]) * trust
        both = [i for i in wanted if known[i]]
        ratios = np.array([np.log(raced[keys[i]]) - expected[i] for i in both])
        near = np.exp(-(expected[both] - expected[both].min()) / 0.2) if both else np.array([])
        offset = float((ratios * near).sum() / near.sum()) if both else 0.0
        for i, key in enumerate(keys):
            c = column.get(kernel_of(layout, key))
            if c is None or not (known[i] or np.isfinite(expected[i])):
                continue
            time = raced.get(key, GUESSED * np.exp(expected[i] + offset) if both else np.inf)
            self.time[at, c] = min(self.time[at, c], time)
            self.raced[at, c] = min(self.raced[at, c], raced.get(key, np.inf))
            # Kernels that no space has come first, as in measure/choose.c.
            self.guess[at, c] = min(self.guess[at, c], expected[i] if np.isfinite(expected[i]) else -np.inf)

    def logs(self, rows):
        return np.log(self.time[rows] / self.time[rows].min(axis=1)[:, None])


def kind_of(problem):
    m, n, k = problem[:3]
    if m <= 96:
        return "M up to 96"
    return "odd" if min(v & -v for v in (m, n, k)) < 8 else "others"


def evaluate(table):
    out = {}
    for size in SIZES + (None,):
        expected, raced = {"all": []}, {"all": []}
        for fold in sorted(set(table.fold)):
            chosen = greedy(table.logs(table.fold != fold), size) if size else range(len(table.kernels))
            allowed = np.zeros(len(table.kernels), bool)
            allowed[list(chosen)] = True
            for at in np.flatnonzero(table.fold == fold):
                kind = kind_of(table.problems[at])
                for where, times in ((expected, table.time), (raced, table.raced)):
                    values = losses(table.guess[at], times[at], allowed)
                    where["all"].append(values)
                    where.setdefault(kind, []).append(values)
        for kind in expected:
            out["%s, %s" % (size or "all", kind)] = {"problems": len(expected[kind]), "expected": summary(expected[kind]),
                                                    "raced_alone": summary(raced[kind])}
            print(size, kind, out["%s, %s" % (size or "all", kind)], flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluate", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--tool", default=str(ROOT / "build" / "tests" / "rank_features"))
    options = parser.parse_args()
    train = ranker()
    data = train.Data()
    train.add_records(data, train.records.DATA)
    for path in train.default_journals():
        train.add_journal(data, path)
    data.all_pool, data.all_times = np.array(data.pool), np.array(data.times, float)
    data.new = np.array([new for _, new in data.pools])
    data.finish(options.tool)
    data.able = np.array([p[4:6] == ("f32", "offline") for p, _ in data.pools]) | data.new
    folds = train.folds_by([tuple(s) for s in data.shapes], train.FOLDS)
    table = Table(train, data, options.tool, folds)
    print("%d problems, %d kernels" % table.time.shape, flush=True)
    if options.write:
        chosen = greedy(table.logs(np.arange(len(table.pools))), options.size)
        options.write.write_text("".join(sorted(table.kernels[c] + "\n" for c in chosen)))
    if options.evaluate:
        lines = [json.dumps(name) + ": " + json.dumps(found) for name, found in evaluate(table).items()]
        options.evaluate.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
