"""run, load, compare and verify: the program's commands as functions. Relies on _program.py; errors are of
errors.py."""
from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._program import call
from .errors import BenchError, DataError, error_of
from .results import Comparison, Result, comparison_of, result_of

PathLike = Union[str, "os.PathLike[str]"]


def load(path: PathLike) -> Result:
    """Reads a result, a journal or a directory with one of them; either may be compressed by gzip."""
    name = os.fspath(path)
    if Path(name).is_file() and name.endswith((".json", ".json.gz")):
        return _read(name)
    with tempfile.TemporaryDirectory() as made:
        done = call(["report", name, "--format", "result", "--output", made])
        if done.returncode != 0:
            raise error_of(done.returncode, done.stderr)
        return _read(os.path.join(made, "result.json"), name)


def _read(name: str, told: Optional[str] = None) -> Result:
    try:
        with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as file:
            tree = json.load(file)
    except (OSError, EOFError, ValueError) as error:
        raise DataError("%s: %s" % (told or name, error)) from error
    if not isinstance(tree, dict) or tree.get("schema") != "cudal2-bench/result":
        raise DataError("%s: not a result of cudal2-bench (no \"schema\": \"cudal2-bench/result\")" % (told or name))
    return result_of(tree, told or name)


def run(config: Optional[Union[PathLike, Mapping[str, Any]]] = None, *, shapes: Sequence[str] = (),
        mode: Optional[str] = None, device: Optional[str] = None, baselines: Optional[Sequence[str]] = None,
        candidates: Sequence[PathLike] = (), output: Optional[PathLike] = None, resume: bool = False,
        options: Sequence[str] = ()) -> Result:
    """Measures a config (a path, or its content as a dict) or shapes like "512x512x512", and returns the
    result.

    `options` are further options of `cudal2-bench run`. It measures everything, also in a task of a
    scheduler: a shard is asked for by options=["--shard", "3/8"] and `output` alone, and has no result to
    return. Without `output` the files are deleted again. An exception of a run that measured something all
    the same (VerificationFailed, Incomparable) has it in its `result`."""
    with tempfile.TemporaryDirectory() as made:
        target = os.fspath(output) if output is not None else os.path.join(made, "result.json")
        arguments: List[str] = ["run", "--output", target, "--quiet"]
        if isinstance(config, Mapping):
            written = os.path.join(made, "config.json")
            Path(written).write_text(json.dumps(config))
            config = written
        if config is not None:
            arguments += ["--config", os.fspath(config)]
        for shape in shapes:
            arguments += ["--shape", shape]
        for name, value in (("--mode", mode), ("--device", device), ("--baselines", baselines and ",".join(baselines))):
            if value is not None:
                arguments += [name, str(value)]
        for candidate in candidates:
            arguments += ["--candidate", os.fspath(candidate)]
        if not any(option.split("=")[0] == "--shard" for option in options):
            arguments += ["--shard", "none"]
        done = call([*arguments, *(["--resume"] if resume else []), *options])
        result = None
        if os.path.exists(target):
            result = _read(target, None if output is None else target)
        if done.returncode != 0 or result is None:
            raise error_of(done.returncode, done.stderr, result)
        return result


def compare(base: PathLike, new: PathLike, *, check: bool = False, options: Sequence[str] = ()) -> Comparison:
    """The regression gate. With `check` a regression, or runs that cannot be compared, are exceptions."""
    done = call(["compare", os.fspath(base), os.fspath(new), "--format", "json", *options])
    try:
        tree = json.loads(done.stdout)
    except ValueError:
        raise error_of(done.returncode, done.stderr) from None
    comparison = comparison_of(tree)
    if check and done.returncode != 0:
        raise error_of(done.returncode, done.stderr or comparison.outcome, comparison)
    return comparison


def verify(kernel: PathLike, *, device: Optional[str] = None, shapes: Sequence[str] = (),
           options: Sequence[str] = ()) -> Mapping[str, Any]:
    """Checks a kernel and times nothing; the program's JSON. VerificationFailed where a result is wrong."""
    arguments = ["verify", os.fspath(kernel), "--format", "json"]
    if device is not None:
        arguments += ["--device", device]
    for shape in shapes:
        arguments += ["--shape", shape]
    done = call([*arguments, *options])
    try:
        tree = json.loads(done.stdout)
    except ValueError:
        tree = None
    if done.returncode != 0:
        raise error_of(done.returncode, done.stderr, tree)
    if not isinstance(tree, dict):
        raise BenchError("verify printed no JSON")
    return tree
