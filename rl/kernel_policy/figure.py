"""Draws regret over measurements, and the learning curves, as one SVG. Standard library only.

    python -m kernel_policy.figure compare.json curves.csv -o policy.svg
"""
from __future__ import annotations

import argparse
import collections
import csv
import json
import math
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

Point = Tuple[float, float]

WIDTH, HEIGHT, LEFT, TOP, PANEL, DEEP = 980, 400, 60, 40, 390, 290
COLOURS = {"random": "#999999", "evolution": "#c78a3b", "ranker": "#222222", "ranker, spread": "#8a6fa8", "neighbour table": "#4a9a5b",
           "none": "#7fa8d9", "neighbours": "#2f6db5", "neighbours+ranker": "#b5302f",
           "neighbours+counters": "#1f8a8a", "neighbours+ranker+counters": "#d9822b"}
SHOWN = 0.02  # percent; what is below is drawn here


class Panel:
    """A logarithmic y axis in percent; x as the caller scales it to 0..1."""

    def __init__(self, at: float, low: float, high: float):
        self.at, self.low, self.high, self.parts = at, low, high, []  # type: float, float, float, List[str]

    def place(self, x: float, y: float) -> Point:
        share = (math.log(max(y, self.low)) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return self.at + x * PANEL, TOP + DEEP * (1 - min(1.0, share))

    def line(self, points: Sequence[Point], colour: str, width: float, dash: str = "") -> None:
        path = " ".join("%.1f,%.1f" % self.place(x, y) for x, y in points)
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%g"%s/>' % (
            path, colour, width, ' stroke-dasharray="%s"' % dash if dash else ""))

    def text(self, x: float, y: float, words: str, anchor: str = "middle", size: int = 12, colour: str = "#222") -> None:
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s">%s</text>' % (
            x, y, anchor, size, colour, words))

    def frame(self, title: str, x_ticks: Sequence[Tuple[float, str]], x_name: str) -> None:
        self.text(self.at + PANEL / 2, TOP - 14, title, size=14)
        for y in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50):
            if self.low <= y <= self.high:
                self.line([(0, y), (1, y)], "#e4e4e4", 1)
                self.text(self.at - 6, self.place(0, y)[1] + 4, "%g%%" % y, "end", 11)
        for x, name in x_ticks:
            self.text(self.at + x * PANEL, TOP + DEEP + 16, name, size=11)
        self.text(self.at + PANEL / 2, TOP + DEEP + 36, x_name)


def regret_panel(found: Dict[str, Any]) -> List[str]:
    budgets: List[int] = found["budgets"]
    panel = Panel(LEFT, SHOWN, 30)
    scale: Callable[[int], float] = lambda b: math.log2(b) / math.log2(budgets[-1])
    panel.frame("mean regret, 100 held-out shapes, fp32 offline", [(scale(b), str(b)) for b in budgets], "measurements")
    curves = {name: (name, table, "") for name, table in found["methods"].items()}
    for name, table in found["policies"].items():
        context, stage, kind = name.split(", ")
        if stage == "stage 3" and kind == "likeliest":
            curves[name] = (context, table, "")
    for row, (name, (colour, table, dash)) in enumerate(curves.items()):
        panel.line([(scale(b), table["f32 offline"][str(b)]["mean"]) for b in budgets], COLOURS[colour], 2.2, dash)
        words = "policy: " + colour if "stage" in name else name
        panel.text(LEFT + 10, TOP + DEEP - 8 - 15 * row, words, "start", 12, COLOURS[colour])
    return panel.parts


def curve_panel(rows: Sequence[Dict[str, str]]) -> List[str]:
    panel = Panel(LEFT + PANEL + 100, 0.5, 30)
    runs: Dict[Tuple[str, str], List[Dict[str, str]]] = collections.defaultdict(list)
    for row in rows:
        runs[row["context"], row["seed"]].append(row)
    any_run = next(iter(runs.values()))
    last = {stage: max(int(r["step"]) for r in any_run if r["stage"] == stage) for stage in ("1", "2", "3")}
    ends = [0, last["1"], last["1"] + last["2"], sum(last.values())]
    panel.frame("validation regret while it learns: first line (full), a sample (dashed)",
                [(end / ends[-1], str(end)) for end in ends], "step: pretraining | RL, all kinds | RL, fp32 offline")
    for end in ends[1:3]:
        panel.line([(end / ends[-1], 0.5), (end / ends[-1], 30)], "#bbbbbb", 1)
    for (context, _), points in runs.items():
        for column, dash in (("regret_1", ""), ("regret_sample", "4 3")):
            line = [((ends[max(0, int(r["stage"]) - 1)] + int(r["step"])) / ends[-1], float(r[column])) for r in points]
            panel.line(line, COLOURS[context], 1.3, dash)
    return panel.parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compared", type=Path)
    parser.add_argument("curves", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    with options.curves.open(newline="") as file:
        rows = list(csv.DictReader(file))
    parts = regret_panel(json.loads(options.compared.read_text())) + curve_panel(rows)
    options.output.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">\n'
                              '<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n' % (
                                  WIDTH, HEIGHT, "\n".join(parts)))


if __name__ == "__main__":
    main()
