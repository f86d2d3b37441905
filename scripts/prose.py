#!/usr/bin/env python3
"""prose.py [--write] [FILE...]: the prose of the pages that people read. Part of scripts/lint.sh
(scripts/lint-prose.sh).

Tells: lines of over 110 columns (tables, code, links alone and headings may be longer); words that a page
does without (DENIED); links to files or headings that are not there; files of the tree that a page names and
that are not there. With --write paragraphs and list items are wrapped at 110 columns. Without FILEs: the
pages of git, docs/lab not (it is a log: only its links are looked at)."""
import os
import re
import subprocess
import sys
import textwrap

WIDTH = 110
# Of a machine, a tool or a person that is not the project's; and words that style does without.
DENIED = re.compile(r"/root/|/home/\w|\bTODO\b|\bFIXME\b|\bXXX\b|\bsimply\b|\bobviously\b|\bof course\b|"
                    r"\bblazing|\bleverag|\bseamless|\brobustly\b|\bcutting[- ]edge|\butiliz", re.I)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", re.M)
NAMED = re.compile(r"`((?:harness|scripts|tests|configs|kernels|baselines|docs|python)/[\w./-]+\.\w+)`")


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], check=True,
                          capture_output=True, text=True).stdout.split()


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
    if all(len(line) <= WIDTH for line in lines):
        return lines
    first = re.match(r"\s*(?:(?:[*-]|\d+\.) )?", lines[0]).group()
    words = " ".join(line.strip() for line in lines)[len(first.strip()):].strip()
    # A number and a full stop, a dash or a star at a line's start would begin a list.
    wrapped = textwrap.wrap(words, WIDTH - len(first), break_long_words=False, break_on_hyphens=False)
    for i, line in enumerate(wrapped):
        if i and re.match(r"([*+-]|\d+[.)])( |$)|[#>|]", line):
            head = wrapped[i - 1].rsplit(" ", 1)
            wrapped[i - 1], wrapped[i] = head[0], head[1] + " " + line
    return [(first if i == 0 else " " * len(first)) + line for i, line in enumerate(wrapped)]


def rewrap(text):
    return "\n".join(line for kind, lines in units(text) for line in (wrap(lines) if kind == "prose" else lines))


def anchors(path):
    with open(path) as file:
        heads = re.findall(r"^#+ +(.*?)\s*$", re.sub(r"```.*?```", "", file.read(), flags=re.S), re.M)
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


def look(path):
    with open(path) as file:
        text = file.read()
    said = list(links(path, text))
    if path.startswith("docs/lab/") or path == "results/redteam-second-author.md":
        return said
    said += ["%s is not there" % name for name in sorted(set(NAMED.findall(text))) if "NAME" not in name and not os.path.exists(name)]
    number = 1
    for kind, lines in units(text):
        for i, line in enumerate(lines):
            if kind == "prose" and len(line) > WIDTH and " " in line.strip()[4:]:
                said.append("line %d has %d columns, %d at most (scripts/prose.py --write %s)" % (number + i, len(line), WIDTH, path))
            denied = DENIED.search(line)
            if denied:
                said.append("line %d: \"%s\": a page does without" % (number + i, denied.group()))
        number += len(lines)
    return said


def too_long():
    """A reader's time: pages outside of the log have 30,000 words in all, the method 4,000."""
    count = {}
    for page in tracked("docs/*.md"):
        if not page.startswith("docs/lab/") and os.path.exists(page):
            with open(page) as file:
                count[page] = len(file.read().split())
    if sum(count.values()) > 30000:
        yield "docs", "%d words outside of docs/lab, 30000 at most" % sum(count.values())
    if count.get("docs/method.md", 0) > 4000:
        yield "docs/method.md", "%d words, 4000 at most" % count["docs/method.md"]


def main(arguments):
    write = "--write" in arguments
    # Tables that the program printed are not prose.
    pages = [a for a in arguments if a != "--write"] or [p for p in tracked("*.md") if "/tables/" not in p]
    bad = 0
    for page in pages:
        if not os.path.exists(page):
            continue
        if write and not page.startswith("docs/lab/"):
            with open(page) as file:
                text = file.read()
            with open(page, "w") as file:
                file.write(rewrap(text))
        for said in look(page):
            print("%s: %s" % (page, said))
            bad = 1
    for page, said in too_long():
        print("%s: %s" % (page, said))
        bad = 1
    if not bad:
        print("prose: %d pages" % len(pages))
    return bad


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main(sys.argv[1:]))
