"""wrapping.py: what prose.py and comments.py share: how wide text is, how a paragraph is filled, and the loop
over files that mends them (--write) and tells what is wrong. Relies on git for the list of files."""
import os
import subprocess
import sys
import textwrap

WIDTH = 110


def tracked(*patterns):
    """The files of git, and new ones that it does not ignore; those that are there."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], check=True,
                           capture_output=True, text=True).stdout.split()
    return list(filter(os.path.exists, names))


def fill(words, first, rest):
    """Lines of WIDTH: the first one behind `first`, the others behind `rest`, which is as long."""
    lines = textwrap.wrap(words, WIDTH - len(first), break_long_words=False, break_on_hyphens=False)
    return [(rest if i else first) + line for i, line in enumerate(lines)]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def each(files, rewrap, faults):
    """For every file rewrap(text, path), with --write, then faults(text, path), which are printed. Files
    named on the command line stand in for files(). 1 where there was a fault."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    paths = [a for a in sys.argv[1:] if a != "--write"] or files()
    found = []
    for path in paths:
        text = read(path)
        if "--write" in sys.argv and rewrap(text, path) != text:
            text = rewrap(text, path)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        found += faults(text, path)
    print("\n".join(found) or "%s: %d files" % (os.path.basename(sys.argv[0])[:-3], len(paths)))
    return 1 if found else 0
