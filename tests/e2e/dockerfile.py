#!/usr/bin/env python3
"""dockerfile.py check|build|start FILE CONTEXT [ROOT [ARGUMENT...]]: carries a Dockerfile out without Docker.

check: every instruction is known, and what COPY names is in the context. build: RUN and COPY in ROOT, a
directory that stands for the image of FROM, by chroot. start: the ENTRYPOINT with ARGUMENTs, or with CMD, in
the image's environment. Exit 1 with the line that does not hold. One stage, and the instructions that
INSTRUCTIONS names. Called by e2e_openenv_image.sh, in namespaces of its own."""
from __future__ import annotations

import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

INSTRUCTIONS = ("FROM", "RUN", "COPY", "ENV", "EXPOSE", "WORKDIR", "ENTRYPOINT", "CMD")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED = ("PIP_", "http_", "https_", "HTTP_", "HTTPS_", "no_proxy", "SSL_CERT")  # how this machine reaches its registries


class Wrong(Exception):
    pass


def steps_of(path: Path) -> List[Tuple[str, str]]:
    """Instructions with their text; a line that ends in a backslash goes on."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ").splitlines()
    found = [(line.split(None, 1)[0].upper(), line.split(None, 1)[1] if " " in line.strip() else "") for line in whole]
    for word, text in found:
        if word not in INSTRUCTIONS or not text:
            raise Wrong("%s: %s %s: not an instruction that is known here" % (path, word, text))
    if not found or found[0][0] != "FROM" or sum(word == "FROM" for word, _ in found) != 1:
        raise Wrong("%s: one FROM, and first, is expected" % path)
    if found[-1][0] not in ("ENTRYPOINT", "CMD"):
        raise Wrong("%s: it starts nothing" % path)
    return found


def ignored(context: Path, name: str) -> bool:
    patterns = (context / ".dockerignore").read_text().split() if (context / ".dockerignore").exists() else []
    parts = Path(name).parts
    return any(fnmatch.fnmatch("/".join(parts[:i + 1]), pattern) for pattern in patterns for i in range(len(parts)))


def sources(context: Path, text: str) -> Tuple[List[Path], str]:
    """What COPY takes from the context, and where to."""
    words = shlex.split(text)
    if len(words) < 2 or words[0].startswith("--"):
        raise Wrong("COPY %s: options are not known here" % text)
    found = []
    for name in words[:-1]:
        path = context / name.lstrip("/")
        if ignored(context, name) or not path.exists() or context.resolve() not in (path.resolve(), *path.resolve().parents):
            raise Wrong("COPY %s: no %s in the context" % (text, name))
        found.append(path)
    return found, words[-1]


class Image:
    def __init__(self, root: Path):
        self.root, self.directory = root, "/"
        self.environment: Dict[str, str] = {"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
                                            **{k: v for k, v in os.environ.items() if k.startswith(PASSED)}}
        self.entry: List[str] = []
        self.command: List[str] = []

    def inside(self, words: List[str]) -> List[str]:
        return ["chroot", str(self.root), "/bin/sh", "-c", 'cd "$0" && exec "$@"', self.directory, *words]

    def carry_out(self, context: Path, word: str, text: str, build: bool) -> None:
        if word == "ENV":
            self.environment.update(part.split("=", 1) for part in shlex.split(text))  # type: ignore[misc]
        elif word == "WORKDIR":
            self.directory = text
        elif word in ("ENTRYPOINT", "CMD"):
            setattr(self, "entry" if word == "ENTRYPOINT" else "command", json.loads(text))
        elif word == "COPY" and build:
            self._copy(*sources(context, text))
        elif word == "RUN" and build:
            code = subprocess.run(self.inside(["/bin/sh", "-c", text]), env=self.environment, stdin=subprocess.DEVNULL).returncode
            if code:
                raise Wrong("RUN %s: exit status %d" % (text, code))

    def _copy(self, found: List[Path], to: str) -> None:
        place = self.root / os.path.join(self.directory, to).lstrip("/")
        for path in found:
            if path.is_dir():
                shutil.copytree(path, place, dirs_exist_ok=True)
            elif to.endswith("/") or place.is_dir():
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)


def main(arguments: List[str]) -> None:
    task, file, context = arguments[0], Path(arguments[1]), Path(arguments[2])
    steps = steps_of(file)
    if task == "check":
        for word, text in steps:
            if word == "COPY":
                sources(context, text)
        return
    image = Image(Path(arguments[3]))
    for word, text in steps:
        image.carry_out(context, word, text, task == "build")
    if task == "start":
        os.execvpe("chroot", image.inside(image.entry + (arguments[4:] or image.command)), image.environment)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Wrong, ValueError, OSError) as error:
        sys.exit("dockerfile: %s" % error)
