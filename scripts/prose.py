#!/usr/bin/env python3
"""prose.py [--write] [FILE...]: the prose of the pages that people read. Part of scripts/lint.sh
(scripts/lint-prose.sh).

Tells: lines of over 110 columns (tables, code, links alone and headings may be longer); words that a page
does without (DENIED); links to files or headings that are not there; files of the tree that a page names and
that are not there. docs/lab is a log: it may name what is gone, in the words of its day. With --write
paragraphs and list items are wrapped at 110 columns. Without FILEs: the pages of git."""
import os
import re
import sys

import wrapping

# Of a machine, a tool or a person that is not the project's; and words that style does without.
DENIED = re.compile(r"/root/|/home/\w|\bTODO\b|\bFIXME\b|\bXXX\b|\bsimply\b|\bobviously\b|\bof course\b|"
                    r"\bblazing|\bleverag|\bseamless|\brobustly\b|\bcutting[- ]edge|\butiliz", re.I)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", re.M)
NAMED = re.compile(r"`((?:harness|scripts|tests|configs|kernels|baselines|docs|python)/[\w./-]+\.\w+)`")


def units(text):
    """The text's lines as ("prose", lines) and ("other", lines): fences, tables, headings, comments, indented
    code."""
    fenced = False
    found = []

    def add(kind, line, new=False):
        if new or not found or found[-1][0] != kind:
            found.append((kind, [line]))
        else:
            found[-1][1].append(line)

    in_list = False
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
            add("other", line)
        elif fenced or not bare or bare.startswith(("|", "#", "<", ">", "![")) or re.match(r"\[[^\]]+\]: ", bare):
            in_list = in_list and not bare
            add("other", line)
        elif re.match(r"\s*([*-]|\d+\.) ", line):
            in_list = True
            add("prose", line, new=True)
        elif line.startswith("    ") and not in_list or line.startswith("        "):
            add("other", line)
        else:
            in_list = in_list and line.startswith(" ")
            add("prose", line)
    return found


def wrap(lines):
    if all(len(line) <= wrapping.WIDTH for line in lines):
        return lines
    first = re.match(r"\s*(?:(?:[*-]|\d+\.) )?", lines[0]).group()
    words = " ".join(line.strip() for line in lines)[len(first.strip()):].strip()
    rest = " " * len(first)
    wrapped = wrapping.fill(words, first, rest)
    # A number and a full stop, a dash or a star at a line's start would begin a list.
    for i, line in enumerate(wrapped):
        if i and re.match(r"\s*(?:([*+-]|\d+[.)])( |$)|[#>|])", line):
            head, word = wrapped[i - 1].rsplit(" ", 1)
            wrapped[i - 1], wrapped[i] = head, rest + word + " " + line.strip()
    return wrapped


def rewrap(text, _):
    return "\n".join(line for kind, lines in units(text) for line in (wrap(lines) if kind == "prose" else lines))


def anchors(path):
    heads = re.findall(r"^#+ +(.*?)\s*$", re.sub(r"```.*?```", "", wrapping.read(path), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(path, text):
    for match in LINK.finditer(re.sub(r"```.*?```", "", text, flags=re.S)):
        target = next(filter(None, match.groups()))
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(whole):
            yield "the link %s leads nowhere" % target
        elif anchor and whole.endswith(".md") and anchor not in anchors(whole):
            yield "%s has no heading #%s" % (whole, anchor)


def long_lines(text, path):
    lines = [(kind, line) for kind, unit in units(text) for line in unit]
    for number, (kind, line) in enumerate(lines, 1):
        if kind == "prose" and len(line) > wrapping.WIDTH and " " in line.strip()[4:]:
            yield "line %d has %d columns, %d at most (scripts/prose.py --write %s)" % (number, len(line), wrapping.WIDTH, path)


def out_of_place(text):
    """Files that are not there, and words that a page does without."""
    for name in sorted(set(NAMED.findall(text))):
        if "NAME" not in name and not os.path.exists(name):
            yield "%s is not there" % name
    for number, line in enumerate(text.split("\n"), 1):
        denied = DENIED.search(line)
        if denied:
            yield "line %d: \"%s\": a page does without" % (number, denied.group())


def too_long(method):
    """A reader's time: pages outside of the log have 30,000 words in all, the method 4,000."""
    total = sum(len(wrapping.read(page).split()) for page in pages() if re.match(r"docs/(?!lab/)", page))
    for what, most, words in (("docs outside of docs/lab", 30000, total), ("this page", 4000, len(method.split()))):
        if words > most:
            yield "%s: %d words, %d at most" % (what, words, most)


def faults(text, path):
    said = list(links(path, text)) + list(long_lines(text, path))
    if not path.startswith("docs/lab/"):
        said += out_of_place(text)
    if path == "docs/method.md":
        said += too_long(text)
    return ["%s: %s" % (path, one) for one in said]


def pages():
    """Without tables that the program printed, and a page that stands as its author wrote it."""
    return wrapping.tracked("*.md", ":!*/tables/*", ":!results/redteam-second-author.md")


if __name__ == "__main__":
    sys.exit(wrapping.each(pages, rewrap, faults))
