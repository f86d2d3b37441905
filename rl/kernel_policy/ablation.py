"""What counters of retrieved neighbours' kernels are worth in a prompt: runs with them against runs without,
all else alike.

    python -m kernel_policy.ablation runs/*/scores.json -o counters.json

For each size, length of training and context: mean regret of the likeliest lines after stage 3 on the
held-out problems of the class of stage 3, by seed; and by how much the best of the first lines is slower with
counters, and the first line than the ranker's, problem by problem (the mean of the seeds; 95% by drawing
shapes). Standard library only.
"""
from __future__ import annotations

import argparse
import collections
import json
import statistics
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from .compare import BUDGETS, Table, average, difference, mean_table, of_run
from .records import load
from .search import ranker_order
from .split import is_target, split

COUNTERS = "+counters"
FIRSTS = ("1", "4")


def tables_of(runs: Sequence[Dict[str, Any]]) -> Dict[Tuple[str, int, str], List[Table]]:
    """By size, measurements of a training and context, in the order of the seeds."""
    pools = split(load()).test
    kept = [at for at, pool in enumerate(pools) if is_target(pool)]
    found: Dict[Tuple[str, int, str], List[Table]] = collections.defaultdict(list)
    for run in sorted(runs, key=lambda run: run["seed"]):
        scores = run["stages"]["stage 3"]
        found[run["size"], run["measured"], run["context"]].append(of_run([pools[at] for at in kept], [scores[at] for at in kept])[0])
    return found


def ablation(runs: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    targets = [pool for pool in split(load()).test if is_target(pool)]
    ranker = [average(pool, [ranker_order(pool)]) for pool in targets]
    rows: List[Dict[str, Any]] = []
    found = tables_of(runs)
    for (size, measured, context), tables in sorted(found.items()):
        row: Dict[str, Any] = {"size": size, "measured": measured, "context": context, "seeds": len(tables)}
        for budget in FIRSTS:
            at = BUDGETS.index(int(budget))
            row[budget] = [round(statistics.mean(line[at] for line in table), 3) for table in tables]
            without = found.get((size, measured, context[:-len(COUNTERS)]))
            if context.endswith(COUNTERS) and without:
                row["slower_" + budget] = difference(targets, mean_table(tables), mean_table(without), at, at)
        row["slower_than_ranker"] = difference(targets, mean_table(tables), ranker, 0, 0)
        rows.append(row)
    return {"problems": len(targets), "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    runs = {path: json.loads(path.read_text()) for path in options.scores}
    for path, run in runs.items():
        if "stage 3" not in run["stages"]:
            parser.error("%s is of a run that has not ended" % path)
    found = ablation(list(runs.values()))
    rows = ",\n  ".join(json.dumps(row) for row in found["rows"])
    options.output.write_text('{"problems": %d, "rows": [\n  %s\n]}\n' % (found["problems"], rows))
    print(rows)


if __name__ == "__main__":
    main()
