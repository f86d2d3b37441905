#!/usr/bin/env python3
"""referee.py RESULT... [--gaps RESULT] [--also TITLE=RESULT] [--families TSV] [--notes FILE.md] [--out
FILE.md] [--html FILE.html]:
the referee table: every family against one reference, from the results or journals of `scripts/gpu-run.sh
referee:DTYPE`
(.gz or not), as Markdown, and as a page of HTML. Results of one data type are one table, each cell of the
first that has it. Where a family had no kernel for a shape there, what a result of --gaps says of it counts,
over the reference of that same run; --as THEIRS=FAMILY is for one that has another name in such a result.
Results of --also are tables of their own, headed by their title, behind the others: runs that are not to be
mixed with them.

TSV is what scripts/referee.sh wrote of each family: repository, version, licence. With --notes the page of
HTML begins with what that file says above its first block: what a reader should know. No number stands here
that a journal does not have: means and counts are of the program's own `report --format pairs` and `--format
result`."""
import argparse
import csv
import html
import io
import json
import math
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "import")]
import wrapping  # noqa: E402
from receipts import report  # noqa: E402

GROUPS = {"grid": lambda label: label.split(",")[0] == "grid", "language models": lambda label: "m=" in label}
SIZES = [("under 30 us", 0, 3e4), ("30 us to 1 ms", 3e4, 1e6), ("over 1 ms", 1e6, math.inf)]
FEW = 10  # means of fewer shapes have no interval
NAMED = 24  # shapes of one reason at most by name
MOST = 0.9  # of the shapes: whoever has fewer is left out of what all have
# Families of the program itself: what it is, where its code is, under which licence, which member of
# "libraries" has its version.
OWN = {
    "cublaslt-autotuning": ("cuBLASLt, the fastest of what its heuristic returns", "https://docs.nvidia.com/cuda/cublas", "NVIDIA CUDA EULA", "cublaslt"),
    "cublaslt-exhaustive": ("cuBLASLt, the fastest of all its algorithms", "https://docs.nvidia.com/cuda/cublas", "NVIDIA CUDA EULA", "cublaslt"),
    "torch.matmul": ("PyTorch, `at::matmul_out`", "https://github.com/pytorch/pytorch", "BSD-3-Clause", "torch"),
    "openblas": ("OpenBLAS", "https://github.com/OpenMathLib/OpenBLAS", "BSD-3-Clause", "openblas"),
    "cudal2": ("this repository, `kernels/`; the grid's shapes searched beforehand", "this repository", "MIT", None),
}


def arguments():
    p = argparse.ArgumentParser(prog="referee.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("results", type=Path, nargs="+", metavar="RESULT")
    p.add_argument("--gaps", type=Path, action="append", default=[], metavar="RESULT", help="for shapes that a family had no kernel for; may be repeated")
    p.add_argument("--as", dest="names", action="append", default=[], metavar="THEIRS=FAMILY", help="a family's name in results of --gaps; may be repeated")
    p.add_argument("--also", action="append", default=[], metavar="TITLE=RESULT", help="tables of their own; may be repeated")
    p.add_argument("--families", type=Path, help="default: referee-families.tsv beside the first result")
    p.add_argument("--reference", help="default: the results' first baseline, the faster of its layouts")
    p.add_argument("--program", type=Path, default=HERE.parent / "build/cudal2-bench")
    p.add_argument("--out", type=Path, help="Markdown (default: standard output)")
    p.add_argument("--html", type=Path)
    p.add_argument("--notes", type=Path, help="Markdown whose text above its first block goes under the title of the page of HTML")
    return p.parse_args()


def family(contender):
    for end in ("-max", "-nn", "-tn"):
        contender = contender.removesuffix(end)
    return contender


class Race:
    """The results of one type: of each cell the lead of each family over the reference, the reference's time,
    and what went wrong. Where two results have the same cell, the first counts."""

    def __init__(self, options, path, reference=None):
        self.result = json.loads(report(options, path, "result"))
        self.cells = {c["key"]: c for c in self.result["cells"]}
        rows = [r for r in csv.DictReader(io.StringIO(report(options, path, "pairs"))) if r["headline"] == "1"]
        names = sorted({r["baseline"] for r in rows})
        self.reference = reference or options.reference or next((n for n in names if n.endswith("-max")), names[0] if names else "none")
        self.leads, self.labels = {}, {}
        for r in rows:
            key = f'{r["mode"]}/{r["dtype"]}-{r["accumulate"]}-{r["m"]}x{r["n"]}x{r["k"]}'
            self.labels[key] = r["label"]
            if r["baseline"] == self.reference and r["speedup"]:
                self.leads.setdefault(family(r["candidate"]), {})[key] = [float(r[x] or "nan") for x in ("speedup", "low", "high")]
        if not self.leads:
            sys.exit(f"referee: {path}: no family was measured against {self.reference}")
        self.wheres, self.filled = [self.where(len(self.cells))], {}

    def type(self):
        cell = next(iter(self.cells.values()))
        return cell["mode"], cell["dtype"], cell["accumulate"], self.reference

    def where(self, cells):
        device, run = self.result["env"][0]["device"], self.result["run"]
        return f"{cells} shapes on {device['name']}, driver {device.get('driver') or '-'}, begun {run['started']}"

    def add(self, other):
        """The cells of `other` that are not here yet."""
        new = other.cells.keys() - self.cells.keys()
        self.cells |= {k: other.cells[k] for k in other.cells if k in new}
        self.labels |= {k: v for k, v in other.labels.items() if k in new}
        for name, of in other.leads.items():
            self.leads.setdefault(name, {}).update({k: v for k, v in of.items() if k in new})
        self.wheres.append(other.where(len(new)))

    def own(self, name, key):
        """What a family's layouts came to in a cell: {contender: its record}."""
        return {n: c for n, c in self.cells[key]["contenders"].items() if family(n) == name}

    def fill(self, other, names):
        """The cells in which a family had no kernel, and has one in `other`, by the name that `names`
        gives."""
        for name in {family(n) for c in other.cells.values() for n in c["contenders"]}:
            mine, found = names.get(name, name), []
            for key in self.cells.keys() & other.cells.keys():
                own, new = self.own(mine, key), other.own(name, key)
                if own and new and all(c["status"] == "unsupported" for c in own.values()) and any(c["status"] != "unsupported" for c in new.values()):
                    found.append(key)
                    self.cells[key]["contenders"] |= {mine + n.removeprefix(name): c for n, c in new.items()}
                    if key in other.leads.get(name, {}):
                        self.leads.setdefault(mine, {})[key] = other.leads[name][key]
            if found:
                self.filled.setdefault(mine, []).append((set(found), other.where))

    def told_of_filled(self, keys):
        """A sentence for each family that has cells of other runs."""
        for name, parts in sorted(self.filled.items()):
            wheres = [where(len(found & keys)) for found, where in parts if found & keys]
            if wheres:
                count = sum(len(found & keys) for found, _ in parts)
                yield f"For {count} of these {name} had no kernel there; what other runs found counts, over the reference in those: {'; '.join(wheres)}."

    def why_not(self, name, keys):
        """{(verdict, reason): [shape]} of a family where none of its layouts was measured."""
        found = {}
        for key in sorted(keys - self.leads.get(name, {}).keys(), key=shape_of):
            own = self.own(name, key)
            bad = [c for c in own.values() if c["status"] not in ("ok", "unsupported")] or list(own.values())
            told = (bad[0]["status"] if bad else "absent", " and ".join(dict.fromkeys(map(kind_of, bad))))
            found.setdefault(told, []).append("x".join(map(str, shape_of(key))))
        return found

    def absent(self):
        """Families with no time at all, by their verdicts."""
        names = {family(n) for c in self.cells.values() for n in c["contenders"]} - set(self.leads) - {family(self.reference)}
        for name in sorted(names):
            yield "p", f"{name}: " + ", ".join(f"{v} {n}" for v, n in self.faults(name, self.cells).most_common())

    def time_of_reference(self, key):
        cell, name = self.cells[key], family(self.reference)
        times = [c["timings"].get(cell["headline"], {}).get("median_ns") for n, c in cell["contenders"].items()
                 if family(n) == name and c["status"] == "ok"]
        return min((t for t in times if t), default=math.nan)

    def faults(self, name, keys):
        """Verdicts of a family where none of its layouts was measured: {verdict: shapes}."""
        found = Counter()
        for (verdict, _), shapes in self.why_not(name, set(keys)).items():
            found[verdict] += len(shapes)
        return found

    def races(self, name):
        """What each race of a family says of itself: one for each shape and layout whose winner was not
        known."""
        return [c["tuning"] for cell in self.cells.values() for n, c in cell["contenders"].items() if family(n) == name and "raced" in c.get("tuning", {})]


def shape_of(key):
    return tuple(int(x) for x in key.rsplit("-", 1)[1].split("x"))


def kind_of(contender):
    """Its reason without figures."""
    reason = contender.get("reason", "").removeprefix(contender["status"] + ": ")
    return re.sub(r"(?<![\w-])\d[\d.e-]*", "N", re.split(r"[:;]", reason)[0]).strip()


def budget(told):
    """(median variants and seconds of a race; races, variants, seconds and GPU seconds of all of them)"""
    if not told:
        return ["none", "-", "0", "0", "-", "-"]
    counts, seconds, busy = ([t[key] for t in told] for key in ("raced", "seconds", "busy_seconds"))
    return [f"{statistics.median(counts):g}", f"{statistics.median(seconds):.2g} s", len(told), sum(counts), f"{sum(seconds):.0f} s", f"{sum(busy):.1f} s"]


def percent(x):
    return "-" if math.isnan(x) else f"{100 * x:+.1f}%"


def mean_of(speedups):
    """Geometric mean with its 95% interval: of which shapes these are, not of runs."""
    if not speedups:
        return "-"
    logs = [math.log(x) for x in speedups]
    mean = statistics.mean(logs)
    half = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) >= FEW else math.nan
    return percent(math.expm1(mean)) + ("" if math.isnan(half) else f" ±{100 * half:.1f}")


def quantile(values, q):
    return sorted(values)[round(q * (len(values) - 1))]


def standings(race, keys):
    """A row for each family, the fastest in the mean first; the reference is where it is by its 1."""
    own = family(race.reference)
    leads = {f: {k: v for k, v in of.items() if k in keys} for f, of in race.leads.items()}
    leads = {own: {k: [1.0, 1.0, 1.0] for k in keys}} | {f: of for f, of in leads.items() if of}
    shared = [k for k in keys if all(k in of for of in leads.values() if len(of) >= MOST * len(keys))]
    best = Counter(max((f for f in leads if k in leads[f]), key=lambda f: leads[f][k][0]) for k in keys)
    rows = []
    for f, of in leads.items():
        gains = [v[0] for v in of.values()]
        whole = mean_of([of[k][0] for k in shared]) if len(of) >= MOST * len(keys) else "-"
        reference = f == own
        rows.append((statistics.mean(map(math.log, gains)),
                     [f, f"{len(of)} of {len(keys)}", mean_of(gains) if not reference else "the reference", whole if not reference else "",
                      *(percent(quantile(gains, q) - 1) if not reference else "" for q in (0.1, 0.5, 0.9)),
                      "" if reference else sum(v[1] > 1 for v in of.values()), "" if reference else sum(v[2] < 1 for v in of.values()), best[f],
                      ", ".join(f"{v} {n}" for v, n in race.faults(f, keys).most_common()) if not reference else ""]))
    return [row for _, row in sorted(rows, key=lambda r: -r[0])], len(shared)


HEADS = ["family", "shapes", "mean lead", "mean, shapes that all have", "10th percentile", "median", "90th percentile", "faster", "slower", "fastest of all",
         "not measured"]


def unmeasured(race, keys, order):
    """Of each family the shapes that it has no time for, by verdict and reason; by name where they are
    few."""
    rows = []
    for f in order:
        for (verdict, reason), shapes in sorted(race.why_not(f, set(keys)).items(), key=lambda item: -len(item[1])):
            rows.append([f, verdict, reason, len(shapes), " ".join(shapes[:NAMED]) + (f" and {len(shapes) - NAMED} more" if len(shapes) > NAMED else "")])
    return ["family", "verdict", "reason", "shapes", "which"], rows


def by_size(race, keys, order):
    times = {k: race.time_of_reference(k) for k in keys}
    classes = [(text, [k for k in keys if low <= times[k] < high]) for text, low, high in SIZES]
    rows = [[f, *(mean_of([of[k][0] for k in part if k in of]) for _, part in classes)] for f in order if f in race.leads for of in [race.leads[f]]]
    return ["family", *(f"{text} ({len(part)})" for text, part in classes)], rows


SEARCHES = ["variants", "race", "races", "variants in all", "seconds in all", "GPU time in all"]


def searched(races, name):
    """How much a family searched in these results."""
    return budget([t for r in races for t in r.races(name)])


def families_of(races):
    """{family: the first result that has it}"""
    return {f: race for race in reversed(races) for f in [family(race.reference), *race.leads]}


def who(races, families):
    """Whose code each family is, and how much it searched, by the first result that has it."""
    for f, race in families_of(races).items():
        env = race.result["env"][0]
        what, repository, version, licence = families.get(f) or [f, "not stated", "not stated", "not stated"]
        if f in OWN:
            what, repository, licence, library = OWN[f]
            version = env["libraries"].get(library, {}).get(library, "-") if library else env.get("build", {}).get("commit", "-")
        yield [f, what, repository, version, licence, *searched(races, f)]


def tables(race, heading="h2"):
    """Blocks of one type, a table for each group of shapes."""
    cell = next(iter(race.cells.values()))
    for group, belongs in GROUPS.items():
        keys = [k for k in race.cells if belongs(race.labels.get(k, "")) and not math.isnan(race.time_of_reference(k))]
        if keys:
            rows, shared = standings(race, keys)
            yield heading, f"{cell['dtype']}, sums in {cell['accumulate']}: {group}, {len(keys)} shapes"
            both = f"Of {len(race.cells)} shapes in all: " if len(keys) < len(race.cells) else ""
            yield "p", (f"{both}{'; '.join(race.wheres)}. The reference is {race.reference}. The mean over shapes that all have is of "
                        f"{shared} shapes: on each of them every family that has {100 * MOST:.0f}% of this table's was measured. "
                        + " ".join(race.told_of_filled(set(keys))))
            yield "table", (HEADS, rows)
            order = [row[0] for row in rows]
            yield "table", by_size(race, keys, order)
            heads, missing = unmeasured(race, keys, [f for f in order if f != family(race.reference)])
            if missing:
                yield "p", "Shapes without a time, and why; `N` stands for a figure."
                yield "table", (heads, missing)
    yield from race.absent()


def others(also):
    """Blocks of what is not mixed with the rest: {title: [race]}."""
    for title, races in also.items():
        yield "h2", title
        for race in races:
            yield from tables(race, "h3")
        yield "p", "How much each family searched there:"
        yield "table", (["family", *SEARCHES], [[f, *searched(races, f)] for f in families_of(races)])


def page(races, also, families):
    """Blocks: (kind, content)."""
    yield "h1", "The referee table"
    yield "p", (f"{len({f for r in races for f in r.leads} | {family(r.reference) for r in races})} families multiply the same matrices. One harness "
                "verifies, races and times them, in one process, block by block; nothing is timed that is not right.")
    yield "p", ("A lead of +5% is a speedup of 1.05 over the reference. Means are geometric; the 95% interval behind ± covers which shapes these are. "
                "Faster and slower count the shapes whose own interval lies above or below 0. Of each family the faster layout of B counts.")
    for race in races:
        yield from tables(race)
    yield "h2", "Whose code, and how much it searched"
    yield "p", ("The search is done before anything is timed, a race for each shape and layout. The first two figures are a race's, medians; the others "
                "are of all races behind this page: GPU time is that of the launches raced, the seconds also hold what the host did meanwhile. What was "
                "searched beforehand is in none of them.")
    yield "table", (["family", "what", "code", "version", "licence", *SEARCHES], list(who(races, families)))
    yield from others(also)
    yield "h2", "Again"
    yield "code", "scripts/referee.sh referee f16 bf16\nscripts/gpu-run.sh -t 520 -o OUT referee:f16 referee:bf16     # again while it ends with 75\n" \
                  "scripts/referee.py OUT/referee-f16.journal.jsonl OUT/referee-bf16.journal.jsonl --out referee.md --html referee.html"


def markdown(blocks):
    for kind, content in blocks:
        if kind == "table":
            heads, rows = content
            yield from ["| " + " | ".join(map(str, heads)) + " |", "|" + "---|" * len(heads), *("| " + " | ".join(map(str, r)) + " |" for r in rows), ""]
        elif kind == "p":
            yield "\n".join(wrapping.fill(content, "", "")) + "\n"
        else:
            yield {"h1": "# ", "h2": "## ", "h3": "### "}.get(kind, "    ") + (content.replace("\n", "\n    ") if kind == "code" else content) + "\n"


def cell_html(text):
    text = html.escape(str(text))
    return f'<a href="{text}">{text.removeprefix("https://")}</a>' if text.startswith("https://") else text


def notes(path):
    """The paragraphs of a page of Markdown between its title and its first block, as HTML."""
    text = path.read_text().split("<!--")[0]
    for paragraph in (p.strip() for p in text.split("\n\n") if p.strip() and not p.startswith("# ")):
        words = html.escape(paragraph)
        words = re.sub(r"`(.+?)`", r"<code>\1</code>", re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words))
        yield "<p>" + re.sub(r"\[(.+?)\]\((.+?)\)", r'<a href="\2">\1</a>', words)


def page_html(blocks, noted):
    yield "<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><title>The referee table</title>"
    yield ("<style>body{font:16px/1.5 sans-serif;margin:2em auto;max-width:80em;padding:0 1em}table{border-collapse:collapse;margin:1em 0;display:block;"
           "overflow-x:auto}td,th{border:1px solid #bbb;padding:.3em .6em;text-align:left}td:first-child{white-space:nowrap}@media print{body{font-size:9px}}pre{background:#f4f4f4;padding:1em}</style>")
    for kind, content in blocks:
        if kind == "table":
            heads, rows = content
            yield "<table><tr>" + "".join(f"<th scope=col>{html.escape(str(h))}" for h in heads)
            yield from ("<tr>" + "".join(f"<td>{cell_html(x)}" for x in row) for row in rows)
            yield "</table>"
        else:
            tag = "pre" if kind == "code" else kind
            yield f"<{tag}>{html.escape(content)}</{tag}>"
        if kind == "h1":
            yield from noted
    yield "</html>"


def by_type(results):
    """One Race of each type, of all that have it."""
    races = {}
    for race in results:
        if race.type() in races:
            races[race.type()].add(race)
        else:
            races[race.type()] = race
    return list(races.values())


def others_of(options):
    """{title: [race]} of --also."""
    paths = {}
    for title, path in (pair.rsplit("=", 1) for pair in options.also):
        paths.setdefault(title, []).append(Path(path))
    return {title: by_type([Race(options, path) for path in of]) for title, of in paths.items()}


def main():
    options = arguments()
    races = by_type([Race(options, path) for path in options.results])
    names = dict(pair.split("=", 1) for pair in options.names)
    for path in options.gaps:
        for reference in sorted({race.reference for race in races}):
            other = Race(options, path, reference)
            for race in races:
                if race.reference == reference:
                    race.fill(other, names)
    told = options.families or options.results[0].parent / "referee-families.tsv"
    rows = (line.split("\t") for line in told.read_text().splitlines()) if told.exists() else ()
    families = {name: [what, *rest] for name, what, *rest in rows}
    blocks = list(page(races, others_of(options), families))
    text = "\n".join(markdown(blocks))
    if options.html:
        options.html.write_text("\n".join(page_html(blocks, notes(options.notes) if options.notes else ())) + "\n")
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
