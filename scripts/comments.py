#!/usr/bin/env python3
"""comments.py [--write] [FILE...]: comments of scripts have at most 110 columns. Part of scripts/lint.sh
(scripts/lint-prose.sh).

Looked at are lines that are nothing but a comment, and docstrings; what is indented inside of one is taken as
it stands. With --write they are wrapped. Without FILEs: the shell, Python, make and YAML files of git."""
import ast
import io
import re
import sys
import tokenize

import wrapping

FULL = 95  # a shorter line ends its paragraph
FILES = ["*.sh", "*.py", "*.mk", "*.yml", "*.yaml", "Makefile", "*/Makefile", "Dockerfile", "*/Dockerfile", ".ci/run", "debian/rules"]
COMMENT = re.compile(r"\s*# \S")
HEREDOC = re.compile(r"(?<!<)<<-?\s*['\"]?(\w+)['\"]?")


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
    """The same of a shell script, and of what has such comments: those outside of here-documents."""
    comments, end = set(), None
    lines = text.split("\n")
    ends = {line.strip() for line in lines}
    for number, line in enumerate(lines):
        if end:
            end = None if line.strip() == end else end
        elif COMMENT.match(line):
            comments.add(number)
        else:
            begun = HEREDOC.search(line)
            end = begun.group(1) if begun and begun.group(1) in ends else None  # not so in $((1 << n))
    return comments, set()


def start_of(line, is_doc):
    """What each line of a paragraph begins with."""
    return re.match(r"\s*" if is_doc else r"\s*# ", line).group()


def is_fixed(line, start):
    """A list's item, a table (two spaces between words), what is indented, a directive."""
    return re.match(r"\s|.*\S  +\S|[-*|+]|\d+[.)] |shellcheck |type:|noqa|Times nothing\.$|\"\"\"$|$", line[len(start):]) is not None


def goes_on(before, line, widest):
    """Whether a line of the same comment is of the paragraph of the line before: there was no room for its
    first word. After a full stop the room is that of the longest line."""
    return len(before) + 1 + len(line.split()[0]) > (widest if before.endswith((".", "`", ":")) else FULL)


def paragraphs(lines, chosen, is_doc):
    """[first, end) of the lines of each paragraph."""
    first = last = None
    widest = max((len(lines[number]) for number in chosen), default=0)
    for number in sorted(chosen):
        line = lines[number]
        start = start_of(line, is_doc)
        fixed = not line.strip() or is_fixed(line, start)
        same = (first is not None and last == number - 1 and not fixed and start_of(lines[last], is_doc) == start and
                goes_on(lines[last], line[len(start):], widest))
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
    return wrapping.fill(words, start, start)


def long_ones(text, path):
    """(first, end, is_doc) of the paragraphs with a line that is too long and can be broken."""
    lines = text.split("\n")
    comments, docs = comments_of_python(text) if path.endswith(".py") else comments_of_shell(text)
    for chosen, is_doc in ((comments, False), (docs, True)):
        for first, end in paragraphs(lines, chosen, is_doc):
            if any(len(line) > wrapping.WIDTH for line in lines[first:end]) and wrap(lines[first:end], is_doc) != lines[first:end]:
                yield first, end, is_doc


def rewrap(text, path):
    lines = text.split("\n")
    for first, end, is_doc in sorted(long_ones(text, path), reverse=True):
        lines[first:end] = wrap(lines[first:end], is_doc)
    return "\n".join(lines)


def faults(text, path):
    for first, _, _ in long_ones(text, path):
        yield "%s:%d: a comment of over %d columns (scripts/comments.py --write %s)" % (path, first + 1, wrapping.WIDTH, path)


if __name__ == "__main__":
    sys.exit(wrapping.each(lambda: wrapping.tracked(*FILES), rewrap, faults))
