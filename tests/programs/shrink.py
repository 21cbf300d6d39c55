"""Reduces a failing program: removes lines while it fails in the same way.

After Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): tries
halves of the lines, then quarters, down to single lines; then words within lines. The compiler
rejects a program that still uses a removed line, which counts as no failure.
"""

import re

# Fragments of a line that can be removed.
FRAGMENTS = [re.compile(r" \+ 0\.3 \* mean\([^()]*\)"), re.compile(r"(?<=\S) stores [\w, ]+"),
         re.compile(r"(?<=\S),? else \w+"), re.compile(r"(?<=[a-z]), \w+(?= |$)"),
         re.compile(r" \{ frozen = true \}"), re.compile(r" as l(?= \{)")]


def without_lines(lines: list[str], size: int):
    for start in range(0, len(lines), size):
        yield lines[:start] + lines[start + size:]


def without_fragments(lines: list[str]):
    for at, line in enumerate(lines):
        for pattern in FRAGMENTS:
            for match in pattern.finditer(line):
                yield lines[:at] + [line[:match.start()] + line[match.end():]] + lines[at + 1:]


def shrink(text: str, fails, tries: int = 2000) -> str:
    """`fails(texts)` returns for each text whether it fails like the original."""
    lines = [line for line in text.splitlines() if line.strip()]
    size = len(lines) // 2
    while size and tries > 0:
        smaller = list(without_lines(lines, size)) if size > 0 else []
        if size == 1:
            smaller += without_blocks(lines)
            smaller += without_fragments(lines)
        tries -= len(smaller)
        verdicts = fails(["\n".join(s) + "\n" for s in smaller])
        found = next((s for s, failed in zip(smaller, verdicts) if failed), None)
        if found:
            lines = found
            size = min(size, max(1, len(lines) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return "\n".join(lines) + "\n"


def without_blocks(lines: list[str]):
    """Removes whole blocks, or replaces them by their contents."""
    for start, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        depth, end = 0, start
        for end in range(start, len(lines)):
            depth += lines[end].count("{") - lines[end].count("}")
            if depth == 0:
                break
        yield lines[:start] + lines[end + 1:]
        yield lines[:start] + lines[start + 1:end] + lines[end + 1:]
