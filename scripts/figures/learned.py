"""learned.py: the blocks of figures-check.py about what was learned: the policy (docs/rl.md) and the ranker
(results/README.md).

Reads results/policy and results/ranker.json, from the top of the repository. A function gives the lines of
the block of its name."""
import functools
import json
import math
import statistics

from data import table



@functools.lru_cache(maxsize=None)
def learned(name):
    with open("results/policy/" + name) as file:
        return json.load(file)


def policy_names():
    """The rows of the tables of docs/rl.md: name, and whose figures they are."""
    data = learned("compare.json")
    rows = [(name, table) for name, table in data["methods"].items()]
    for context in ("none", "neighbours", "neighbours+ranker"):
        for stage, kind in (("stage 1", "likeliest"), ("stage 1", "sampled"), ("stage 3", "likeliest"),
                            ("stage 3", "sampled"), ("stage 3", "seeds together")):
            name = "%s, %s, %s" % (context, stage, kind)
            if name in data["policies"]:
                rows.append(("policy: " + name, data["policies"][name]))
    return rows


def signed(mean, low, high):
    return "%+.2f (%+.2f to %+.2f)" % (mean, low, high)


def change(interval):
    return signed(*(interval[k] for k in ("mean", "low", "high")))


def policy():
    rows = [(name, *("%.2f / %.2f" % (t["f32 offline"][b]["mean"], t["f32 offline"][b]["median"]) for b in ("1", "4", "16", "64")))
            for name, t in policy_names()]
    return table(("regret in percent, mean / median", "1", "4", "16", "64"), rows)


def policy_large():
    """The same of policies of 13 million parameters, after stage 3."""
    data = learned("large.json")
    rows = [(name, *("%.2f / %.2f" % (t["f32 offline"][b]["mean"], t["f32 offline"][b]["median"]) for b in ("1", "4", "16", "64")),
             change(data["against_ranker"][name]["first_against_first"]))
            for name, t in data["policies"].items() if "stage 3" in name]
    return table(("regret in percent, mean / median", "1", "4", "16", "64", "first, slower than the ranker's"), rows)


def policy_counters():
    """Contexts with counters of the neighbours' lines and without, after stage 3, by length of training."""
    rows = []
    for r in learned("counters.json")["rows"]:
        gains = [change(r[name]) if name in r else "-" for name in ("slower_1", "slower_4", "slower_than_ranker")]
        rows.append((r["size"], format(r["measured"], ","), r["context"], *(", ".join("%.2f" % v for v in r[b]) for b in ("1", "4")), *gains))
    return table(("size", "trained on", "context", "after 1, each seed", "after 4, each seed", "first, slower with counters (95%)",
                  "best of 4", "first, slower than the ranker's"), rows)


FOLDS = {"first_against_ranker": "first, ranker's first", "four_against_rankers_32": "best of 4, ranker's best of 32",
         "first_against_trees": "first, trees' first", "four_against_trees_32": "best of 4, trees' best of 32"}


def policy_folds():
    """A policy over shapes held out in turn, against the recorded ranker and against trees."""
    found = learned("folds.json")
    rows = [(words, change(d), ", ".join("%+.2f" % v for v in d["folds"]),
             "%+.2f to %+.2f" % (d["folds_low"], d["folds_high"]),
             change(d["without_the_split"]),
             ", ".join("%+.2f" % v for v in found["of_seeds"][name]), "%d / %d" % (d["ahead"], d["behind"]))
            for name, words in FOLDS.items() for d in [found["compared"][name]]]
    return table(("slower, percent", "all shapes (95%)", "each fold", "95% by the folds' scatter", "without the 100 (95%)", "each seed",
                  "shapes ahead / behind"), rows)


def policy_folds_large():
    """The same of the policy with 13 million parameters: its likeliest lines, and drawn ones."""
    rows = []
    for file, how in (("folds-large.json", "likeliest"), ("folds-large-samples.json", "sampled")):
        rows += [("%s: %s" % (how, words), change(d), ", ".join("%+.2f" % v for v in d["folds"]),
                  "%+.2f to %+.2f" % (d["folds_low"], d["folds_high"]), "%d / %d" % (d["ahead"], d["behind"]))
                 for name, words in FOLDS.items() for d in [learned(file)["compared"][name]]]
    return table(("slower, percent", "all shapes (95%)", "each fold", "95% by the folds' scatter", "shapes ahead / behind"), rows)


def policy_folds_regret():
    rows = [(words, *("%.2f / %.2f" % (of[b]["mean"], of[b]["median"]) for b in ("1", "4", "32")))
            for words, of in learned("folds.json")["regret"].items()]
    return table(("regret in percent, mean / median", "1", "4", "32"), rows)


def policy_thinking():
    found = learned("thinking.json")
    rows = [("the likelihood of all lines of the pool", "%.0f" % (1e3 * found["seconds"]["whole pool"]))]
    rows += [("%s different line%s, word by word" % (count, "s" if count != "1" else ""), "%.0f" % (1e3 * found["seconds"][count]))
             for count in found["lines"]]
    return table(("a trained policy (%s)" % found["policy"], "ms of a core"), rows)


def by_gpu_seconds(price):
    data = learned("gpu-seconds.json")
    rows = [(name, "%.2f" % row["spent"], *("-" if cell is None else "%.2f (%.2f to %.2f)" % tuple(cell) for cell in row["regret"]))
            for name, row in data["rows"][price].items()]
    return table(("mean regret in percent (95%)", "thinks, pays", *("%g s" % b for b in data["budgets"][price])), rows)


def policy_seconds_tune():
    """Within so many GPU-seconds a shape, a measurement at the price of a race of `tune`."""
    return by_gpu_seconds("tune")


def policy_seconds_serve():
    """The same at the price of a reward of `serve`."""
    return by_gpu_seconds("serve")


def policy_prices():
    """What the GPU-seconds are made of."""
    data = learned("gpu-seconds.json")
    tune, serve = data["price_tune"], data["price_serve"]
    say = lambda part, scale, form: "%s (%s to %s)" % tuple(form % (scale * part[k]) for k in ("value", "low", "high"))  # noqa: E731
    rows = [("a measurement in a race of `tune`", "%s ms + %s times its time" % (say(tune["each"], 1e3, "%.2f"), say(tune["launches"], 1, "%.2f"))),
            ("a layout before its first one there", "%s ms + %s ms for each TFLOP" % (say(tune["begin"], 1e3, "%.1f"), say(tune["begin_flop"], 1e15, "%.0f"))),
            ("a reward of `serve`", "%s s" % say(serve, 1, "%.2f"))]
    rows += [("to choose for a layout: " + name, "%.1f ms of a core" % (1e3 * value)) for name, value in data["thinking"].items()]
    rows += [("to train one policy: " + name, "%d s at the price of `tune`, %d s at that of `serve`" % (cost["tune"], cost["serve"]))
             for name, cost in data["training"].items() if "ranker" in name]
    rows.append(("all %s records" % format(data["records"]["measurements"], ","), "%d s at the price of `tune`" % data["records"]["tune"]))
    return table(("what", "costs"), rows)


def policy_live():
    """First lines for held-out problems, measured by the server, as gains over AutoTuning."""
    data = learned("live.json")
    ranker, rows = data["held_out"]["ranker"]["each"], []
    for name, found in data["held_out"].items():
        gains = [a - b for a, b in zip(found["each"], ranker)]
        wide = 1.96 * statistics.stdev(gains) / math.sqrt(len(gains))
        counts = "%d ahead, %d behind" % (sum(g > 0.005 for g in gains), sum(g < -0.005 for g in gains))
        rows.append((name, "%+.1f%%" % (100 * math.expm1(found["mean"])),
                     *(("-", "-") if name == "ranker" else ("%+.1f points ±%.1f" % (100 * statistics.fmean(gains), 100 * wide), counts))))
    return table(("first line for %d held-out problems" % len(ranker), "over AutoTuning", "over the ranker's", "by over 0.5%"), rows)


def policy_live_small():
    """Regret of what was chosen for held-out problems, against the fastest line that the batch measured."""
    return chosen_live("live-h100.json")


def policy_live_seeds():
    """The same of three seeds."""
    return chosen_live("live-seeds.json")


def policy_live_gain():
    """What they gained for all held-out shapes, by recorded times (gain.py)."""
    data = learned("live-seeds.json")
    words = {"sample": "a sample", "likeliest": "the likeliest line", "best_of_likeliest_4": "best of the likeliest 4", "best_of_4_samples": "best of 4 samples"}
    rows = []
    for kind, name in words.items():
        found, sure = data["recorded"][kind], data["recorded_as_sure"].get(kind)
        rows.append((name, "%.2f" % found["before"], "%.2f" % found["after"], signed(*found["after - before"]),
                     ", ".join("%+.2f" % v for v in found["seeds"]), signed(*sure["after - before"]) if sure else "-"))
    return table(("behind the best of the pool, 100 log", "before", "after", "change (95%)", "each seed", "against before, as sure"), rows)


def chosen_live(name):
    summary, rows = learned(name)["summary"], []
    for name in summary["first"]:
        say = "%+.2f%% (%+.2f to %+.2f)" if "-" in name else "%.2f%% (%.2f to %.2f)"
        cells = [say % tuple(summary[part][name]) for part in ("first", "best_of_4")]
        rows.append((name if name in ("ranker", "best recorded") else "policy, " + name, *cells))
    return table(("regret, mean (95%)", "first line", "best of 4"), rows)


def policy_classes():
    classes = ("f16 offline", "f32 server", "f16 server")
    rows = [(name, *("%.2f / %.2f" % (t[c]["1"]["mean"], t[c]["4"]["mean"]) for c in classes))
            for name, t in policy_names() if all(c in t for c in classes) and "sampled" not in name]
    return table(("mean regret in percent after 1 / 4", *classes), rows)


def policy_seeds():
    data, rows = learned("compare.json"), []
    for name, t in data["policies"].items():
        if name.endswith("likeliest") and "stage 2" not in name:
            first, four = (", ".join("%.2f" % v for v in t["means_of_seeds"][b]) for b in ("1", "4"))
            rows.append((name.replace(", likeliest", ""), first, four))
    return table(("policy", "after 1, each seed", "after 4, each seed"), rows)


def policy_against_ranker():
    words = {"first_against_first": "first, ranker's first", "best_of_4_against_best_of_4": "best of 4, ranker's best of 4",
             "best_of_4_against_best_of_32": "best of 4, ranker's best of 32"}
    rows = []
    for name, found in learned("compare.json")["against_ranker"].items():
        if "stage 3" in name:
            rows.append((name, *(change(found[w]) for w in words)))
    return table(("slower than the ranker, percent (95%)", *words.values()), rows)


def policy_samples():
    """Lines as a policy draws them, in place of its likeliest, against the ranker's order of the same
    pools."""
    rows = []
    for who, name in (("145,470 parameters, 20,480 measurements", "compare.json"), ("145,470, 61,440", "long.json"), ("13,061,950, 20,480", "large.json")):
        found = learned(name)["against_ranker"]["neighbours+ranker, stage 3, sampled"]
        rows.append((who, *(change(found[w]) for w in ("first_against_first", "best_of_4_against_best_of_4", "best_of_4_against_best_of_32"))))
    for who, name in (("145,470, 61,440", "folds-samples.json"), ("13,061,950, 20,480", "folds-large-samples.json")):
        found = learned(name)["compared"]
        rows.append((who + "; 888 shapes in turn, one seed", change(found["first_against_ranker"]), "-", change(found["four_against_rankers_32"])))
    return table(("drawn, slower in percent (95%)", "first, ranker's first", "best of 4, ranker's best of 4", "best of 4, ranker's best of 32"), rows)


def policy_rehearsals():
    """What live learning would gain, by rehearse.py: drawn and likeliest lines of the held-out shapes."""
    rows = []
    for run in learned("rehearsals.json"):
        gains = [run["recorded"][kind]["after - before"] for kind in ("sample", "likeliest", "best_of_4_samples")]
        rows.append((run["shuffle"], run["steps"] * run["problems"], run["samples"], run["near"], run["lines"], *(signed(*g) for g in gains)))
    return table(("draw", "problems", "samples of each", "weight", "lines measured", "a sample, change (95%)", "likeliest line", "best of 4 samples"), rows)


def closed_loop():
    data = learned("closed-loop.json")
    rows = [(r["problem"].split()[0], "yes" if r["held_out"] else "no", *("%+.2f" % r[k] for k in ("policy", "shipped")),
             "-" if r["best_seen"] is None else "%+.2f" % r["best_seen"], "%+.2f" % (sum(r["random"]) / len(r["random"])))
            for r in data["final"]]
    return table(("problem", "held out", "policy's first", "as shipped", "best come across", "mean of 4 random"), rows)


def portfolio():
    """What a choice among the kernels of a portfolio alone loses (scripts/portfolio.py --evaluate)."""
    with open("results/portfolio.json") as file:
        data = json.load(file)
    rows = []
    for name, found in data.items():
        size, kind = name.split(", ")
        both = ["%.1f (%.1f)" % pair for pair in zip(found["expected"]["mean"], found["raced_alone"]["mean"])]
        rows.append((size, kind, found["problems"], *both, "%.1f" % found["expected"]["p90"][0]))
    return table(("kernels", "problems", "how many", "best of them", "ranker's first", "best of 8", "best of 16", "p90 of the best"), rows)


def ranker():
    """What a choice loses against the fastest of its pool (scripts/train-ranker.py --evaluate)."""
    with open("results/ranker.json") as file:
        data = json.load(file)
    rows = [(r["left_out"], r["problems"], r["pools"], r["by"],
             *("%.2f / %.2f" % both for both in zip(r["mean"], r["median"]))) for r in data]
    return table(("left out", "problems", "pools", "by", "first", "best of 4", "of 8", "of 16"), rows)
