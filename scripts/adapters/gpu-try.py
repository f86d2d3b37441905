#!/usr/bin/env python3
"""gpu-try.py DIR [--program build/cudal2-bench] [--out OUT] [--seconds 120]: verifies and times what the
adapters made, on the GPU that is here: each kernel set, plugin and import in DIR, against cuBLASLt
AutoTuning, a line for each.

DIR has what was compiled elsewhere: DIR/NAME/NAME.json (Triton, CuTe, cuTile), DIR/NAME/NAME.so (imports,
with NAME.tsv: their own shapes are taken), DIR/NAME.so (CUTLASS). Standard library alone; no network and no
tool is needed. OUT keeps results and logs."""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

CHECKED = ["256x256x256", "512x768x1024", "1024x1024x1024"]
TIMED = ["1024x1024x1024", "4096x4096x4096"]
STOP = {"min_blocks": 16, "look_every": 8, "max_blocks": 48, "group_blocks": 2, "offline_half_width": 0.01, "max_cell_seconds": 3}


def arguments():
    p = argparse.ArgumentParser(prog="gpu-try.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("dir", type=Path)
    p.add_argument("--program", type=Path, default=Path("build/cudal2-bench"))
    p.add_argument("--out", type=Path, default=Path("gpu-try"))
    p.add_argument("--device", default="auto")
    p.add_argument("--baseline", default="cublaslt-autotuning")
    p.add_argument("--dtype", default="f16")
    p.add_argument("--seconds", type=float, default=120, help="no kernel is begun after these (default: 120)")
    return p.parse_args()


def candidates(directory):
    """(path, shapes to check, shapes to time) of all that is in the directory."""
    for path in sorted(directory.glob("*.so")):
        yield path, CHECKED, TIMED
    for sub in sorted(p for p in directory.iterdir() if p.is_dir()):
        index = sub / f"{sub.name}.tsv"
        shapes = ["x".join(line.split()[:3]) for line in index.read_text().splitlines()] if index.exists() else []
        for path in (sub / f"{sub.name}.json", sub / f"{sub.name}.so"):
            if path.exists():
                yield path, shapes or CHECKED, shapes or TIMED


class Try:
    def __init__(self, options):
        self.options, self.start, self.bad = options, time.monotonic(), 0
        options.out.mkdir(parents=True, exist_ok=True)

    def spent(self):
        return time.monotonic() - self.start

    def call(self, name, *words):
        """Runs the program; its output, its error lines, its exit status."""
        left = max(20.0, self.options.seconds + 60 - self.spent())
        try:
            done = subprocess.run([str(self.options.program), *words], capture_output=True, text=True, timeout=left)
            out, err, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            out, err, code = "", f"did not end in {left:.0f} s", 124
        (self.options.out / f"{name}.log").write_text(out + err)
        return out, err, code

    def tell(self, good, *words):
        self.bad += not good
        print(*words, sep="  ", flush=True)

    def check(self, path, shapes):
        begin = time.monotonic()
        words = [x for s in shapes for x in ("-s", s)]
        out, err, code = self.call(f"{path.stem}-verify", "verify", "--format", "json", "-a", "f32", "-d", self.options.device, *words,
                                   str(path))
        try:
            tree = json.loads(out)
        except ValueError:
            tree = {"problems": []}
        for problem in tree["problems"]:
            for c in problem["contenders"]:
                if c.get("role") == "candidate":
                    why = c.get("reason", "")
                    self.tell(c["verdict"] in ("passed", "unsupported"), "verify", c["name"], problem["problem"], c["verdict"],
                              c.get("class", ""), why)
        self.tell(code == 0, "verify", path.stem, f"exit status {code}", f"{time.monotonic() - begin:.1f} s", *last(err, code))

    def measure(self, path, shapes):
        begin = time.monotonic()
        config, result = self.options.out / f"{path.stem}.config.json", self.options.out / f"{path.stem}.json"
        config.write_text(json.dumps({
            "schema": "cudal2-bench/config", "schema_version": 1, "name": path.stem, "shapes": shapes, "dtype": self.options.dtype,
            "accumulate": ["f32"], "modes": ["offline"], "baselines": [self.options.baseline],
            "candidates": [str(path.resolve())], "stop": STOP}))
        result.unlink(missing_ok=True)
        out, err, code = self.call(f"{path.stem}-run", "run", "--config", str(config), "-d", self.options.device, "-o", str(result))
        cells = json.loads(result.read_text())["cells"] if result.exists() else []
        for cell in cells:
            self.cell(cell)
        self.tell(code == 0, "run", path.stem, f"exit status {code}", f"{time.monotonic() - begin:.1f} s", *last(err, code))

    def cell(self, cell):
        shape = f"{cell['m']}x{cell['n']}x{cell['k']}"
        for name, c in cell["contenders"].items():
            if c.get("role") == "candidate":
                self.tell(c["status"] in ("ok", "unsupported"), "run", name, shape, c["status"],
                          f"{c['tflops']:.1f} TFLOPS" if "tflops" in c else c.get("reason", ""), c.get("attributes", {}).get("variant", ""))
        for s in cell.get("speedups", []):
            if s["candidate"].endswith("-max") and s["reference"].endswith("-max"):
                print("run", shape, s["candidate"], "over", s["reference"], s["timing"], f"{100 * s['geomean']:+.1f}%")


def last(err, code):
    return [line[:300] for line in err.strip().splitlines()[-3:]] if code else []


def main():
    options = arguments()
    work = Try(options)
    for path, checked, timed in candidates(options.dir):
        if work.spent() > options.seconds:
            work.tell(False, "left out", path.stem, "the time is spent")
            continue
        work.check(path, checked)
        work.measure(path, timed)
    print(f"{work.spent():.0f} s; {work.bad} lines not good; logs in {options.out}")
    sys.exit(work.bad > 0)


if __name__ == "__main__":
    main()
