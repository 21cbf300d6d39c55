"""Sets every path that `titanc info --options FILE` lists to two values. What is fixed at compile time
must change the emitted program beyond its table of settings; what is read at launch must change that
table, and the runtime must read it. Or the value is refused, with a code."""

import re
import subprocess
import sys
from pathlib import Path

TITANC, PROGRAM, RUNTIME = sys.argv[1:]
# Another option without which this one could not have an effect.
TOGETHER = {"schedule.to": ["schedule.decay=linear"],
            "precision.reduce": ["precision.compute=f64"]}
TABLE = re.compile(r'^    \{"([\w.]+)", ".*", (?:true|false)\},$', re.M)
RUNTIME_SOURCES = "".join(path.read_text() for path in Path(RUNTIME).rglob("*.cpp"))


def emitted(*settings: str) -> str:
    """The program with these settings, or the codes with which they are refused."""
    flags = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([TITANC, "build", "--emit=cpp", "-o", "-", PROGRAM, *flags],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    return "refused " + " ".join(re.findall(r"\[(T\d+)\]", done.stderr))


def code_of(program: str) -> str:
    """Without the table of settings, and the copy of the source that says what was given."""
    return re.sub(r'R"titan\(.*?\)titan"', "", TABLE.sub("", program), flags=re.S)


def table_of(program: str) -> list:
    return [match.group(0) for match in TABLE.finditer(program)]


def values(kind: str) -> list:
    words = re.search(r"\((.*)\)", kind)
    if words:
        return words.group(1).split(", ")
    return {"integer": ["3", "5"], "degree": ["1", "2"], "number": ["0.25", "0.5"],
            "two numbers": ["(0.1, 0.2)", "(0.3, 0.4)"], "integers": ["[0, 3]", "5"], "string": ['"a"', '"b"'],
            "truth value": ["true", "false"], "word": ["causal", "none"],
            "words": ["FeedForward", "[FeedForward]"]}[kind]


def fault(path: str, kind: str, fixed: str) -> str:
    others = TOGETHER.get(path, [])
    before = emitted(*others)
    results = [emitted(f"{path}={value}", *others) for value in values(kind)]
    if not all(re.match(r"refused T\d|(?!refused)", result) for result in results):
        return "refused without a code"
    if not emitted(f"{path}=nonsense_value", *others).startswith("refused T"):
        return "takes anything"
    accepted = [result for result in results if not result.startswith("refused")]
    if len(values(kind)) == 1 or not accepted:
        return ""
    if fixed == "launch":
        if f'"{path}"' not in RUNTIME_SOURCES:
            return "the runtime does not read it"
        return "" if any(table_of(one) != table_of(before) for one in accepted) else "no effect"
    return "" if any(code_of(one) != code_of(before) for one in accepted) else "no effect"


listed = subprocess.run([TITANC, "info", "--options", PROGRAM], capture_output=True, text=True).stdout
options = re.findall(r"^(\S+): ((?:\w+ )?\w+(?: \([^)]*\))?).*fixed at (\w+) time$", listed, re.M)
silent = 0
for path, kind, fixed in options:
    if found := fault(path, kind, fixed):
        silent += 1
        print(f"{path}: {found}")
print(f"{len(options)} paths, {silent} without effect")
