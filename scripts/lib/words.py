#!/usr/bin/env python3
"""words.py [--list FILE] [FILE...]

Refuses retired words (docs/retired-words.txt) in identifiers of C++, CUDA and TableGen sources and in
the first sentence of the comment at the top of a header. Without FILEs it reads all tracked sources.
Prints file:line, the word and its replacement; exit status 1 if there is any.
"""

import argparse
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".td", ".def")
TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<include>^[ \t]*(?:\#[ \t]*include|include)\b[^\n]*)
  | (?P<string>R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\d[\w.']*)
  | (?P<name>[A-Za-z_]\w*)
""", re.X | re.S | re.M)
DESCRIPTION = re.compile(r"\[\{.*?\}\]", re.S)  # text of a TableGen record
WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Words:
    """The retired words with their replacements, and the uses that are allowed."""

    def __init__(self, path):
        self.replacements, self.identifiers, self.phrases = {}, [], []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            kind, *columns = line.split(maxsplit=2) if line.split("#")[0].strip() else [None]
            if kind == "retire" and len(columns) == 2:
                for word in columns[0].split("/"):
                    self.replacements[word] = columns[1]
            elif kind in ("allow", "allow-sentence") and len(columns) == 2:
                allowed = self.identifiers if kind == "allow" else self.phrases
                allowed.append((columns[0], re.compile(columns[1])))
            elif kind:
                sys.exit(f"{path}:{number}: neither `retire WORD[/WORD...] REPLACEMENT` nor "
                         "`allow GLOB REGEX` nor `allow-sentence GLOB REGEX`")

    def in_identifier(self, name, path):
        if any(fnmatch.fnmatchcase(path, glob) and regex.fullmatch(name)
               for glob, regex in self.identifiers):
            return []
        return self.retired(WORD_OF_NAME.findall(name))

    def in_sentence(self, sentence, path):
        for glob, regex in self.phrases:
            if fnmatch.fnmatchcase(path, glob):
                sentence = regex.sub(" ", sentence)
        return self.retired(re.findall(r"[A-Za-z]+", sentence))

    def retired(self, words):
        lower = dict.fromkeys(word.lower() for word in words)
        return [word for word in lower if word in self.replacements]


def first_sentence(text):
    """The line and the text of the first sentence of a file's leading comment."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            if lines or line.strip():
                break
            continue
        content = line.strip("/-= ").strip()
        banner = re.match(r"(?://)?===-+ \S+ - (.*?)\s*-*(?:\*- C\+\+ -\*-*)?=*//$", line)
        if banner:
            return number, banner.group(1)
        if content:
            lines.append((number, content))
    if not lines:
        return 0, ""
    whole = " ".join(content for _, content in lines)
    return lines[0][0], re.split(r"(?<=[.:;])\s", whole)[0]


def check(path, name, words):
    """The complaints about one file."""
    text = path.read_text(errors="replace")
    code = text
    if path.suffix == ".td":
        code = DESCRIPTION.sub(lambda found: "\n" * found[0].count("\n"), text)
    seen = set()
    for match in TOKEN.finditer(code):
        identifier = match.group("name")
        if not identifier or identifier in seen:
            continue
        seen.add(identifier)
        for word in words.in_identifier(identifier, name):
            line = code.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: `{identifier}`: `{word}` is retired; {words.replacements[word]}"
    if path.suffix in (".h", ".td"):
        line, sentence = first_sentence(text)
        for word in words.in_sentence(re.sub(r"`[^`]*`", " ", sentence), name):
            yield f"{name}:{line}: first sentence: `{word}` is retired; {words.replacements[word]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=ROOT / "docs/retired-words.txt")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    words = Words(args.list)
    files = args.files or [ROOT / name for name in subprocess.run(
        ["git", "-C", ROOT, "ls-files", *("*" + suffix for suffix in SOURCES)],
        capture_output=True, text=True, check=True).stdout.split("\n") if name]
    complaints = 0
    for path in files:
        if path.suffix not in SOURCES or not path.is_file():
            continue
        full = path.resolve()
        name = str(full.relative_to(ROOT) if full.is_relative_to(ROOT) else path)
        for complaint in check(path, name, words):
            print(complaint)
            complaints += 1
    return complaints > 0


if __name__ == "__main__":
    sys.exit(main())
