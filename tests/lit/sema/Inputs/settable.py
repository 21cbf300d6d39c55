"""Sets every option that `titanc info --options` lists to two values and compares the modules."""

import re
import subprocess
import sys

TITANC, PROGRAM = sys.argv[1:]
# Another option without which this one could not have an effect.
TOGETHER = {"schedule.to": ["schedule.decay=linear"],
            "precision.reduce": ["precision.compute=f64"]}


def module(*settings: str) -> str:
    """The module with these settings, or the codes with which they are refused."""
    flags = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([TITANC, "--stop-after=model", PROGRAM, *flags], capture_output=True,
                          text=True)
    if done.returncode == 0:
        # The source says which settings were given; what counts is what they changed.
        return re.sub(r'titan\.source = "(?:[^"\\]|\\.)*"', "", done.stdout)
    return " ".join(re.findall(r"\[(T\d+)\]", done.stderr)) or "crashed"


def values(kind: str) -> list[str]:
    words = re.search(r"\((.*)\)", kind)
    if words:
        return words.group(1).split(", ")
    return {"integer": ["3", "5"], "number": ["0.25", "0.5"], "two numbers": ["(0.1, 0.2)", "(0.3, 0.4)"],
            "string": ['"a"', '"b"']}[kind]


listed = subprocess.run([TITANC, "info", "--options"], capture_output=True, text=True).stdout
options = re.findall(r"^(\S+): ((?:\w+ )?\w+(?: \([^)]*\))?)", listed, re.M)
silent = 0
for path, kind in options:
    others = TOGETHER.get(path, [])
    before = module(*others)
    results = [module(f"{path}={value}", *others) for value in values(kind)]
    # A word that is the only legal one, or the default, changes nothing; any other does.
    changed = any(result != before for result in results) or len(results) == 1
    refused = module(f"{path}=nonsense_value", *others).startswith("T0")
    if not changed or not refused or "crashed" in results:
        silent += 1
        print(f"{path}: no effect or no check ({results[0][:60]})")
print(f"{len(options)} options, {silent} without effect")
