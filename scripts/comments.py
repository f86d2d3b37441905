#!/usr/bin/env python3
"""comments.py [--write] [FILE...]: comments of scripts have at most 110 columns. Part of scripts/lint.sh
(scripts/lint-prose.sh).

Looked at are lines that are nothing but a comment, and docstrings; what is indented inside of one is taken as
it stands. With --write they are wrapped. Without FILEs: every shell and Python file of git under scripts/,
python/, rl/ and examples/."""
import ast
import io
import os
import re
import subprocess
import sys
import textwrap
import tokenize

WIDTH = 110
FULL = 95  # a shorter line ends its paragraph
PLACES = [place + "/*" + ending for place in ("scripts", "python", "rl", "examples") for ending in (".sh", ".py")]
COMMENT = re.compile(r"\s*# \S")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


def comments_of_python(text):
    """Numbers of the lines that are nothing but a comment, then those of docstrings (all but code behind
    them)."""
    comments, docs = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and COMMENT.match(token.line):
            comments.add(token.start[0] - 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            place = node.body[0]
            docs.update(range(place.lineno - 1, place.end_lineno))
    return comments, docs


def comments_of_shell(text):
    """The same of a shell script: comments outside of here-documents."""
    comments, end = set(), None
    for number, line in enumerate(text.split("\n")):
        if end:
            end = None if line.strip() == end else end
            continue
        if COMMENT.match(line) and not line.startswith("#!"):
            comments.add(number)
        elif HEREDOC.search(line):
            end = HEREDOC.search(line).group(1)
    return comments, set()


def start_of(line, is_doc):
    """What each line of a paragraph begins with."""
    return re.match(r"\s*" if is_doc else r"\s*# ", line).group()


def is_fixed(line, start):
    """A list's item, a table (two spaces between words), what is indented, a directive."""
    return re.match(r"\s|.*\S  +\S|[-*|+]|\d+[.)] |shellcheck |type:|noqa|\"\"\"$|$", line[len(start):]) is not None


def goes_on(before, line):
    """Whether a line of the same comment is of the paragraph of the line before."""
    return len(before) + 1 + len(line.split()[0]) > FULL


def paragraphs(lines, chosen, is_doc):
    """[first, end) of the lines of each paragraph."""
    first = last = None
    for number in sorted(chosen):
        line = lines[number]
        start = start_of(line, is_doc)
        fixed = not line.strip() or is_fixed(line, start)
        same = (first is not None and last == number - 1 and not fixed and start_of(lines[last], is_doc) == start and
                goes_on(lines[last], line[len(start):]))
        if first is not None and not same:
            yield first, last + 1
        if not same:
            first = None if fixed else number
        last = number
    if first is not None:
        yield first, last + 1


def wrap(lines, is_doc):
    start = start_of(lines[0], is_doc)
    words = " ".join(line[len(start):].strip() for line in lines)
    wrapped = textwrap.wrap(words, WIDTH - len(start), break_long_words=False, break_on_hyphens=False)
    return [start + line for line in wrapped]


def long_ones(text, path):
    """(first, end, is_doc) of the paragraphs with a line that is too long and can be broken."""
    lines = text.split("\n")
    comments, docs = comments_of_python(text) if path.endswith(".py") else comments_of_shell(text)
    for chosen, is_doc in ((comments, False), (docs, True)):
        for first, end in paragraphs(lines, chosen, is_doc):
            if any(len(line) > WIDTH for line in lines[first:end]) and wrap(lines[first:end], is_doc) != lines[first:end]:
                yield first, end, is_doc


def rewrap(text, path):
    lines = text.split("\n")
    for first, end, is_doc in sorted(long_ones(text, path), reverse=True):
        lines[first:end] = wrap(lines[first:end], is_doc)
    return "\n".join(lines)


def main(arguments):
    write = "--write" in arguments
    files = [a for a in arguments if a != "--write"] or subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PLACES], check=True, capture_output=True,
        text=True).stdout.split()
    bad = 0
    for path in filter(os.path.exists, files):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if write and rewrap(text, path) != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(rewrap(text, path))
            continue
        for first, _, _ in long_ones(text, path):
            print("%s:%d: a comment of over %d columns (scripts/comments.py --write %s)" % (path, first + 1, WIDTH, path))
            bad = 1
    if not bad:
        print("comments: %d scripts" % len(files))
    return bad


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main(sys.argv[1:]))
