#!/usr/bin/env python3
"""lint-heads.py: what head comments say of other files is true. Each file that one names (`base/text.h`, or
`base/text`) is there, a unit test stands in the room that it names first, each source of harness/ says who
calls it, and a caller that is named as `y.c` uses a name that this file or its header gives out; "y.c alone":
no other source does. What a source relies on, `y.c` or `y.h`, gives out a name that it uses. A caller
"through" something (a table of hooks, another header) is not looked for. Part of scripts/lint-heads.sh."""
import glob
import os
import re
import sys

PLACES = ("harness", "kernels", "baselines", "tests", "scripts", "examples", "python", "rl", "configs")
NAMED = re.compile(r"(?<![\w/.<*-])((?:[\w-]+/)*[\w-]+\.(?:c|h|cu|cuh|cpp|py|sh|inc))(?![\w*])")
# Headers of others, and names that stand for a reader's own file.
OUTSIDE = {"cmocka.h", "cupti_activity.h", "file.cu", "mine.c"}
CALLED = re.compile(r"\b(?:[Cc]alled (?:by|from|through|where|wherever|for|on|once|before|after|between|around)|[Uu]sed by)\b|\bcalls it\b")
ROOM = re.compile(r"(?<![\w/.<-])([a-z]+(?:/[a-z0-9]+)*)/(?=[\s,;.)]|$)")
# A source by its room, without an ending: `choice/cudal2/model`.
IN_ROOM = re.compile(r"(?<![\w/.<*-])(?:harness/)?([a-z]+(?:/[a-z0-9]+)?/[a-z0-9_]+)(?![\w/*-]|\.\w)")
CLAUSE = re.compile(r"\b(?:called|used|read|filled) (?!and\b)(.*?)(?:[.;:](?:\s|$)|$)", re.I)
RELIES = re.compile(r"\b[Rr]elies on (.*?)(?:[.;](?:\s|$)|$)")
DECLARED = re.compile(r"\b(\w+)\(|(?:struct|enum|union) (\w+) \{|#define (\w+)|extern [^;]*?(\w+)(?:\[[^\]]*\])*;|\b([A-Z]\w+)(?= =|,$|$)", re.M)
DEFINED = re.compile(r"^(?![^;={}()\n]*\bstatic\b|typedef\b|return\b|#)[A-Za-z_][^;={}()\n]*?\b(\w+)(?:\(|(?:\[[^\]]*\])* = )", re.M)
INLINE = re.compile(r"#define (\w+)\(|^static inline [^;={}()]*?\b(\w+)\(", re.M)


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def head(text):
    """The first comment of a file as one line of words."""
    found = re.match(r"(?:#!.*\n)?\s*(/\*.*?\*/|(?:(?://|#).*\n)+)", text, re.S)
    lines = found.group(1).splitlines() if found else []
    return " ".join(re.sub(r"^\s*(?:/\*+|\*/|\*|//|#)?|\*/\s*$", "", line).strip() for line in lines).strip()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def given(path, text):
    """The functions and tables that a source defines for others, and what its header makes of them."""
    names = set(DEFINED.findall(without_comments(text)))
    header = path[:-2] + ".h"
    if os.path.exists(header):
        for found in INLINE.findall(without_comments(read(header))):
            names.update(name for name in found if name)
    return names - {"defined", "sizeof", "main"}


def declared(path):
    """What a header gives to those who include it."""
    text = re.sub(r"^\s*#\s*include.*", "", without_comments(read(path)), flags=re.M)
    return {name for found in DECLARED.findall(text) for name in found if name} - {"sizeof", "defined", "__attribute__", "format", "printf"}


def wrong_rooms(path, said):
    """Of what a head comment names by its room alone: what is not there, and a unit test of another room."""
    named = [name for name in IN_ROOM.findall(said) if os.path.isdir("harness/" + name.split("/")[0])]
    for name in named:
        if not glob.glob(f"harness/{name}.[ch]") and not os.path.isdir("harness/" + name):
            yield f"its head comment names {name}, which is not there"
    if named and path.startswith("tests/unit/") and said.startswith(named[0]) and named[0].split("/")[0] != path.split("/")[2]:
        yield f"tests {named[0]}, so its place is tests/unit/{named[0].split('/')[0]}/"


def main():
    paths = [path for place in PLACES for path in glob.glob(place + "/**/*.*", recursive=True) if os.path.isfile(path)]
    by_name = {}
    for path in paths:
        by_name.setdefault(os.path.basename(path), []).append(path)
    sources = [path for path in sorted(paths) if path.startswith("harness/") and path.endswith(".c")]
    words = {}

    def places_of(name):
        return [path for path in by_name.get(os.path.basename(name), []) if ("/" + path).endswith("/" + name)]

    def uses(path, names):
        if path not in words:
            words[path] = set(re.findall(r"\w+", re.sub(r"^\s*#\s*include.*", "", without_comments(read(path)), flags=re.M)))
        return bool(words[path] & names)

    bad = []
    for path in sorted(paths):
        if not re.search(r"\.(c|h|cu|cuh|cpp)$", path) or path.startswith("examples"):
            continue
        text = read(path)
        said = head(text)
        for name in dict.fromkeys(NAMED.findall(said)):
            if not places_of(name) and name not in OUTSIDE:
                bad.append(f"{path}: its head comment names {name}, which is not there")
        bad += [f"{path}: {fault}" for fault in wrong_rooms(path, said)]
        if not path.startswith("harness/") or not path.endswith(".c"):
            continue
        for name in NAMED.findall(" ".join(RELIES.findall(said))):
            header, source = places_of(name[:-1] + "h"), places_of(name[:-1] + "c")
            offered = set().union(*map(declared, header), *(given(place, read(place)) for place in source))
            if name[-2:] in (".c", ".h") and offered and not uses(path, offered):
                bad.append(f"{path}: its head comment says that it relies on {name}, of which it uses nothing")
        if not CALLED.search(said):
            bad.append(f"{path}: its head comment does not say who calls it")
        names = given(path, text)
        for clause in CLAUSE.findall(said):
            if "through" in clause or not names:
                continue
            for room in ROOM.findall(clause):
                inside = [other for other in paths if other.startswith(f"harness/{room}/") and other != path]
                if inside and not any(uses(other, names) for other in inside):
                    bad.append(f"{path}: its head comment says that {room}/ calls it, which uses nothing of it")
            for name in NAMED.findall(clause):
                places = [place for place in places_of(name) if place != path]
                if name.endswith(".c") and places and not any(uses(place, names) for place in places):
                    bad.append(f"{path}: its head comment says that {name} calls it, which uses nothing of it")
                others = [other for other in sources if other != path and other not in places and uses(other, names)]
                if f"{name} alone" in clause and others:
                    bad.append(f"{path}: its head comment says that {name} alone calls it, and {others[0]} does")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
