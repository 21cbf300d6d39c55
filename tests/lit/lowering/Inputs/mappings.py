"""Checks that programs with different axis rules have the same functions after the model phase.

    mappings.py TITANC OUT FOLDER

For every run in the folder's files, and for the first published model in files without runs (models of a file differ in
sizes): without a mesh, and on meshes that shard and store different dimensions. OUT receives the programs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

DATA = 'data = text("text.txt") { seq = 64, batch = 8 }'
MAPS = [
    "a = 2 splits batch stores params, grads, optimizer",
    "b = 4 splits embed, else seq",
    "a = auto splits batch stores optimizer\n  b = 2 splits {dims}, else seq",
]


TITANC, OUT = sys.argv[1], Path(sys.argv[2])


def call(*command) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def functions(program: Path, run: str) -> str:
    """The functions of the program, without mesh and axis rules, after the fingerprint of its model, which
    identifies checkpoints."""
    text = call(TITANC, "--stop-after=model", program, "--train", run)
    fingerprint = re.search(r'titan.fingerprint = "([0-9a-f]{16})"', text).group(1)
    return fingerprint + text[text.index("  func.func"):]


def split_dims(file: Path, name: str) -> str:
    """The dimensions of the parameters that have two or more, which all divide by 2."""
    info = json.loads(call(TITANC, "info", "--json", file, "--train", name))
    dims = {}
    for tensor in info["parameters"]["tensors"]:
        own = len(tensor["iterations"])  # what repeats run over is never split
        if len(tensor["dims"]) > 1:
            dims |= dict(zip(tensor["dims"][own:], tensor["shape"][own:]))
    even = [d for d, size in dims.items() if size % 2 == 0 and d != "embed"]
    return ", ".join(even)


def check(file: Path, name: str, is_run: bool) -> int:
    """Writes the program with every map and compares its functions with those without a map. Returns the number of maps."""
    base = f"one.{name}"
    end = "with {}" if is_run else "{ " + DATA + " }"
    text = f'import "{file}" as one\n\n'
    text += f"train alone = {base} on each with {{}}\n" if is_run else f"train alone = {base} {end}\n"
    text += "parallel each { all = auto splits batch }\n"
    dims = split_dims(file, name)
    for i, axes in enumerate(MAPS):
        axes = axes.replace("{dims}", dims)
        text += f"parallel map{i} {{\n  {axes}\n}}\ntrain run{i} = {base} on map{i} {end}\n"
    program = OUT / f"{file.stem}_{name}.titan"
    program.write_text(text)
    alone = functions(program, "alone")
    for i in range(len(MAPS)):
        if functions(program, f"run{i}") != alone:
            sys.exit(f"{program}: run{i} has other functions than the program alone")
    return len(MAPS)


def is_complete(file: Path, name: str) -> bool:
    return subprocess.run([TITANC, "info", "--json", file, "--train", name], capture_output=True).returncode == 0


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    count = 0
    for file in sorted(Path(sys.argv[3]).resolve().glob("*.titan")):
        runs = re.findall(r"^train (\w+) = (?!.* on )", file.read_text(), re.M)
        # A published model has its size in its name, `Qwen2_5_7B`; `Qwen2` and `Ernie4_5` alone lack arguments.
        models = [name for name in re.findall(r"^model (\w+_\w+) = ", file.read_text(), re.M) if is_complete(file, name)]
        if re.search(r"^ +input (?!tokens|labels|documents|positions|weights|used)", file.read_text(), re.M):
            continue  # its data are arrays
        for name in runs or models[:1]:
            count += check(file, name, bool(runs))
    print(f"{count} pairs of programs equal")


if __name__ == "__main__":
    main()
