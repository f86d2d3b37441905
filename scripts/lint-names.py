#!/usr/bin/env python3
"""lint-names.py: no name that needs a dictionary. The names of NAMES are looked for among the basenames of
source files (without test_, fuzz_, e2e_, gpu_ and cmd_ in front), the tags of structs, enums and unions, and
the keys of the config's schema. A new one is a line of NAMES, with the word to use instead. Part of
scripts/lint.sh."""
import glob
import json
import os
import re
import sys

# The word, where it is refused, and what says it plainly. "whole": the name is that word; "part": it is one
# of the name's words (gunzip_input); "file": of files alone, for the word is clear where it is a struct's.
NAMES = (
    ("apart", "whole", "text_diff, process_per_plugin"),
    ("beside", "part", "journal_freshness"),
    ("blur", "part", "quantization"),
    ("ending", "part", "end_record, end"),
    ("gunzip", "part", "gzip_read"),
    ("holding", "part", "leak_watch"),
    ("known", "whole", "name_check, or what is known"),
    ("look", "whole", "prescreen, or what is looked at"),
    ("novelty", "part", "replay_check"),
    ("places", "whole", "placement, paths"),
    ("possible", "part", "preflight"),
    ("sheet", "part", "table, canvas"),
    ("trial", "file", "plugin_isolation, timed_check"),
    ("wanted", "whole", "precompile_list"),
)
TAG = re.compile(r"^\s*(?:typedef\s+)?(?:struct|enum|union) (\w+) \{", re.M)
PREFIX = re.compile(r"^(?:test|fuzz|e2e|gpu|cmd)_")


def names_of_schema(node):
    """Every key that an object of a config may have."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield from node["properties"]
        for value in node.values():
            yield from names_of_schema(value)
    elif isinstance(node, list):
        for value in node:
            yield from names_of_schema(value)


def refused(name, is_file):
    for word, where, better in NAMES:
        parts = re.split(r"[_\W]+", name)
        if name == word and (is_file or where != "file") or where == "part" and word in parts:
            yield word, better


def names():
    """Every name that is looked at: its file, what it is, the name, and whether it is a file's."""
    for place in ("harness", "baselines", "tests", "scripts", "python", "rl"):
        for path in sorted(glob.glob(place + "/**/*.*", recursive=True)):
            if not re.search(r"\.(c|h|cpp|cu|cuh|py|sh)$", path):
                continue
            yield path, "the file", PREFIX.sub("", os.path.basename(path).split(".")[0]), True
            if re.search(r"\.(c|h|cpp)$", path):
                with open(path, encoding="utf-8") as file:
                    for tag in TAG.findall(file.read()):
                        yield path, "the tag", tag, False
    schema = "configs/config.schema.json"
    if os.path.exists(schema):
        with open(schema, encoding="utf-8") as file:
            for key in sorted(set(names_of_schema(json.load(file)))):
                yield schema, "the key", key, False


def main():
    count = bad = 0
    for path, kind, name, is_file in names():
        count += 1
        for word, better in refused(name, is_file):
            print(f"{path}: {kind} {name} needs a dictionary: \"{word}\" ({better})")
            bad = 1
    if not bad:
        print(f"names: {count} need no dictionary")
    return bad


if __name__ == "__main__":
    sys.exit(main())
