"""Sets every path that `titanc info --options --json FILE` lists to the values that it gives as samples.

What is fixed at compile time must change the emitted program beyond its table of settings, for at least
two values; what is read at launch must change that table, and the runtime must read it, by its name or as an
argument of the program's schedule. Or the value is
refused, with a code. Every path also refuses what is no value at all. A path with one legal value can
only be refused another one.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TITANC, PROGRAM, RUNTIME = sys.argv[1:]
TABLE = re.compile(r'^    \{"([\w.]+)", ".*", (?:true|false)(?:, \w+\(.*\))?\},$', re.M)
RUNTIME_SOURCES = "".join(path.read_text() for path in Path(RUNTIME).rglob("*.cpp"))


def titanc(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([TITANC, *arguments], capture_output=True, text=True)


def emitted(*settings: str) -> str:
    """The program with these settings, or the codes with which they are refused."""
    flags = [word for setting in settings if setting for word in ("--set", setting)]
    done = titanc("build", "--emit=cpp", "-o", "-", PROGRAM, *flags)
    if done.returncode == 0:
        return done.stdout
    return "refused " + " ".join(re.findall(r"\[(T\d+)\]", done.stderr))


def code_of(program: str) -> str:
    """Removes the table of settings, and the copy of the source that contains the given settings."""
    return re.sub(r'R"titan\(.*?\)titan"', "", TABLE.sub("", program), flags=re.S)


def table_of(program: str) -> str:
    return "\n".join(match.group(0) for match in TABLE.finditer(program))


def is_read(path: str, program: str) -> bool:
    schedule = re.search(r"p\.schedule = .*", program)
    return f'"{path}"' in RUNTIME_SOURCES or bool(schedule) and f'"{path}"' in schedule.group(0)


def fault(option: dict) -> str:
    path, needs = option["path"], option.get("needs", "")
    if not re.match(r"refused T", emitted(f"{path}=nonsense_value", needs)):
        return "takes anything"
    seen = {value: emitted(f"{path}={value}", needs) for value in option["samples"]}
    if any(re.match(r"refused(?! T\d)", program) for program in seen.values()):
        return "refused without a code"
    if len(option["samples"]) == 1:
        return ""
    if all(program.startswith("refused") for program in seen.values()):
        return "no sample is legal"
    legal = [program for program in seen.values() if not program.startswith("refused")]
    if option["fixed"] == "launch" and not is_read(path, legal[0]):
        return "the runtime does not read it"
    view = table_of if option["fixed"] == "launch" else code_of
    return "" if len({view(program) for program in [*legal, emitted(needs)]}) > 1 else "no effect"


listed = titanc("info", "--options", "--json", PROGRAM)
options = json.loads(listed.stdout)
with ThreadPoolExecutor(2) as pool:
    faults = list(pool.map(fault, options))
for option, found in zip(options, faults):
    if found:
        print(f"{option['path']}: {found}")
print(f"{len(options)} paths, {sum(map(bool, faults))} without effect")
