#!/usr/bin/env python3
"""Finds links of the documentation that lead nowhere.

    links.py [FILE...]     exit status 1 and a list of lines, if there are any

Checks every Markdown file of the project, or FILEs: a relative link names a file or folder, and its anchor a heading of that
file. A path in backquotes that begins with a top-level folder names files of the project or of its lit tests, also by a pattern.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.M | re.S)
QUOTED = re.compile(r"`([\w./*-]+/[\w.*-]+\.(?:h|cpp|td|py|mlir|test|md|titan|cu))`")


@cache
def listed() -> tuple[str, ...]:
    return tuple(subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())


@cache
def anchors(path: Path) -> set[str]:
    """The anchors of all headings, as GitHub makes them: equal ones are numbered."""
    found: dict[str, int] = {}
    names = set()
    for line in CODE.sub("", path.read_text()).splitlines():
        if heading := re.match(r"#+ +(.*)", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = found[name] = found.get(name, -1) + 1
            names.add(f"{name}-{count}" if count else name)
    return names


def find_fault(link: str, page: Path) -> str | None:
    target, _, anchor = link.partition("#")
    path = (page.parent / target) if target else page
    if not path.exists():
        return f"no file {target}"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.resolve()):
        return f"no heading #{anchor} in {path.name}"
    return None


def check(page: Path) -> list[str]:
    lines = []
    # Code blocks keep their number of lines.
    text = CODE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text())
    folders = {name.split("/")[0] for name in listed()}
    for number, line in enumerate(text.splitlines(), 1):
        for link in LINK.findall(line):
            if "://" not in link and (fault := find_fault(link, page)):
                lines.append(f"{page}:{number}: {fault}")
        for path in QUOTED.findall(line):
            if path.split("/")[0] in folders and not any([*ROOT.glob(path), *(ROOT / "tests" / "lit").glob(path)]):
                lines.append(f"{page}:{number}: no file {path}")
    return lines


def main() -> None:
    pages = [Path(name) for name in sys.argv[1:]]
    if not pages:
        pages = [ROOT / name for name in listed() if name.endswith(".md")]
    lines = [line for page in pages for line in check(page)]
    for line in lines:
        print(line)
    if not pages or lines:
        sys.exit(f"{len(lines)} dead links in {len(pages)} pages")


if __name__ == "__main__":
    main()
