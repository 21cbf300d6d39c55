"""Checks every #include against the table of layers in docs/design.md.

    layers.py [ROOT]

A row of the table is a layer: its folders, its purpose, and the layers that it may include. A row names only layers
of rows above, so that layers have no cycle. Each mistake is printed as one line, with the file and the line of the
include:

- an include of a layer that the row does not name;
- a layer that the row names and no file of the row includes;
- a folder with sources that is in no row;
- a cycle between folders of one layer, unless the row lists these folders side by side.

An arrow is a pair of folders: a file of the first includes a file of the second.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TREES = ("base", "dialects", "compiler", "runtime")
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".def", ".td")
ROOTS = ("", "runtime/include", "runtime/lib")  # where includes are looked up, after the file's own folder
HEADING = "## Dependencies"
INCLUDE = re.compile(r'\s*#?\s*include "([^"]+)"')


def read_table(design: Path):
    """Layer -> layers it may include, and folder -> layer, in the order of the table."""
    allowed, layer_of, faults = {}, {}, []
    inside = False
    for number, line in enumerate(design.read_text().splitlines(), 1):
        inside = line == HEADING if line.startswith("## ") else inside
        if not inside:
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        folders = re.findall(r"`([^`]+)`", cells[0])
        if not line.startswith("|") or len(cells) != 3 or not folders:
            continue
        layer = folders[0]
        named = re.findall(r"`([^`]+)`", cells[2])
        faults += [f"{design.name}:{number}: `{layer}` names `{one}`, which is no layer above it"
                   for one in named if one not in allowed]
        allowed[layer] = named
        layer_of.update({folder: layer for folder in folders})
    return allowed, layer_of, faults


def layer_of_folder(folder: str, layer_of):
    """The layer of the folder, or of the nearest enclosing folder with a layer."""
    while folder and folder not in layer_of:
        folder = folder.rpartition("/")[0]
    return layer_of.get(folder)


def resolve(file: str, name: str, files):
    """The folder of an included file; None for files of other projects. A generated file has the folder of its source."""
    folders = {one.rpartition("/")[0] for one in files}
    for root in (file.rpartition("/")[0], *ROOTS):
        path = f"{root}/{name}".lstrip("/")
        if path in files:
            return path.rpartition("/")[0]
        if path.endswith(".inc") and path.rpartition("/")[0] in folders and "/" in name:
            return path.rpartition("/")[0]
    return None


def read_arrows(root: Path):
    """All source files, and the arrows: (from folder, to folder) -> locations of includes."""
    files = {path.relative_to(root).as_posix() for tree in TREES for path in (root / tree).rglob("*")
             if path.suffix in SOURCES}
    arrows = defaultdict(list)
    for file in sorted(files):
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            target = found and resolve(file, found[1], files)
            if target and target != file.rpartition("/")[0]:
                arrows[file.rpartition("/")[0], target].append(f"{file}:{number}")
    return files, arrows


def find_cycle(arrows):
    """Folders in a circle, or none."""
    after = defaultdict(set)
    for source, target in arrows:
        after[source].add(target)
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for target in sorted(after[folder]):
            if cycle := visit(target):
                return cycle
        path.pop()
        done.add(folder)
        return None

    return next((cycle for folder in sorted(after) if (cycle := visit(folder))), None)


def check(root: Path):
    allowed, layer_of, faults = read_table(root / "docs/design.md")
    files, arrows = read_arrows(root)
    for folder in sorted({file.rpartition("/")[0] for file in files}):
        if not layer_of_folder(folder, layer_of):
            faults.append(f"{folder}: in no row of docs/design.md")
    used = set()
    for (source, target), locations in sorted(arrows.items()):
        ours, theirs = layer_of_folder(source, layer_of), layer_of_folder(target, layer_of)
        if ours == theirs or not ours or not theirs:
            continue
        used.add((ours, theirs))
        if theirs not in allowed[ours]:
            faults += [f"{location}: `{ours}` may not include `{theirs}` (docs/design.md)" for location in locations]
    faults += [f"docs/design.md: no file of `{layer}` includes `{one}`"
               for layer, named in allowed.items() for one in named if (layer, one) not in used]
    # Folders that a row lists count as one; includes between other folders of a layer must have no cycle.
    joined = {(source, target) for source, target in arrows
              if (layer_of.get(source, source), layer_of.get(target, target)) != (source, target)}
    if cycle := find_cycle({arrow: None for arrow in arrows if arrow not in joined}):
        where = [arrows[source, target][0] for source, target in zip(cycle, cycle[1:])]
        faults.append(f"{where[0]}: folders include one another in a circle: {' -> '.join(cycle)} ({', '.join(where)})")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    mistakes = check(root)
    print("\n".join(mistakes) if mistakes else "the includes follow the table of layers")
    sys.exit(bool(mistakes))
