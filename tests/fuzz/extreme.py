#!/usr/bin/env python3
"""Checks that titanc stays fast and small on extreme programs: large, deep, long and repetitive ones.

    extreme.py --titanc build/bin/titanc [--case NAME]

`titanc check` and `titanc fmt -` run on each program. Neither may crash, or need more than 10 s of processor
time or 1 GB. Prints a table; exit status 1 if a case fails.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS, MEGABYTES = 10, 1000
MODEL = "model M(embed = 8) {{\n  input x[batch, seq, embed]\n{}\n  output y = x\n}}\n"


def many(form, count):
    return "".join(form.format(i=i, j=i - 1) for i in range(count))


CASES = {
    "a million braces": "{" * 1_000_000,
    "a million closing braces": "}" * 1_000_000,
    "a million brackets": "fn f(x) = " + "[(" * 500_000,
    "blocks in blocks": "block B(x) -> x {" + "repeat n {" * 100_000,
    "a line of 10 MB": "fn f(x) = " + "x" * 10_000_000 + "\n",
    "a comment of 10 MB": "# " + "é" * 5_000_000 + "\nfn f(x) = x\n",
    "a string of 10 MB": 'import "' + "a" * 10_000_000 + '"\n',
    "10 MB of numbers": "fn f(x) = [" + "1," * 5_000_000 + "1]\n",
    "as many tokens as there may be": "fn f(x) = [" + "-1, " * 160_000 + "1]\n",
    "a sum of 10 MB": "fn f(x) = " + "x + " * 2_500_000 + "x\n",
    "10 MB that are no text": "\xff\x00" * 5_000_000,
    "10 MB of line ends": "\n" * 10_000_000,
    "100,000 statements": MODEL.format(many("  let a{i} = {i}\n", 80_000)),
    "50,000 operations": MODEL.format("  x = x * 2 + 1\n" * 25_000),
    "50,000 unknown names": MODEL.format(many("  let a{i} = b{i}\n", 50_000)),
    "50,000 unknown functions": MODEL.format(many("  let a{i} = f{i}(x)\n", 50_000)),
    "20,000 dimensions to sum over": MODEL.format(
        "  let a = sum(x, over " + ", ".join(f"d{i}" for i in range(20_000)) + ")"),
    "10,000 functions that call the one before": "fn f0(x) = x\n" + "".join(
        f"fn f{i}(x) = f{i - 1}(x)\n" for i in range(1, 10_000)) + MODEL.format("  x = f9999(x)"),
    "functions that call twice": "fn f0(x) = x\n" + "".join(
        f"fn f{i}(x) = f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 60)) + MODEL.format("  x = f59(x)"),
    "a repeat of 199,999": MODEL.format("  repeat 199_999 { x = x * 2 + 1 }"),
    "a long body often": MODEL.format("  repeat 100_000 {\n" + "    x = x + 1\n" * 20_000 + "  }"),
    "repeats in repeats": MODEL.format("  repeat 1000 { repeat 1000 { repeat 1000 { x = x + 1 } } }"),
    "numbers in a repeat": MODEL.format("  repeat 199_999 { let a = " + " + ".join(["1"] * 400) + " }"),
    "10,000 dimensions of a tensor": MODEL.format(
        "  dims " + ", ".join(f"d{i} = 1" for i in range(10_000)) +
        "\n  param p[" + ", ".join(f"d{i}" for i in range(10_000)) + "] = 1"),
    "50,000 arguments": "fn f(x) = x\n" + MODEL.format("  x = f(" + "x, " * 50_000 + "x)"),
    "50,000 parameters of a function": "fn f(" + ", ".join(f"a{i} = 1" for i in range(30_000)) + ") = a0\n" +
                                       MODEL.format("  let z = f()"),
    "20,000 axes": "parallel p {\n" + many("  a{i} = 2 splits batch\n", 20_000) + "}\n",
    "20,000 names of an axis": "parallel p { a = 2 splits " + ", ".join(f"d{i}" for i in range(20_000)) + " }\n",
    "20,000 runs": MODEL.format("") + many("train t{i} = M {{}}\n", 20_000),
    "20,000 runs, each from the one before": MODEL.format("") + "train t0 = M {}\n" + "".join(
        f"train t{i} = t{i - 1} with {{}}\n" for i in range(1, 20_000)),
    "20,000 models, each from the one before": MODEL.format("") + "model M0 = M {}\n" + "".join(
        f"model M{i} = M{i - 1} {{}}\n" for i in range(1, 20_000)),
    "20,000 groups": MODEL.format("") + "train t = M { optimizer = adamw {\n" +
                     many('  group "p{i}" {{ weight_decay = 0 }}\n', 20_000) + "} }\n",
    "a declaration 50,000 times": "fn f(x) = x\n" * 50_000,
    "a pattern of stars": MODEL.format("  param p[embed] = 1\n  x = x * p") +
                          'train t = M { optimizer = adamw { group "' + "*a" * 50_000 + '" { weight_decay = 0 } } }\n',
}


def measure(command, stdin, cwd):
    """Exit status, processor seconds, and maximum resident megabytes."""
    process = subprocess.Popen(command, stdin=stdin, cwd=cwd, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    timer = subprocess.Popen(["sh", "-c", f"sleep 120; kill -9 {process.pid}"],
                             stderr=subprocess.DEVNULL, start_new_session=True)
    _, status, usage = os.wait4(process.pid, 0)
    os.killpg(timer.pid, signal.SIGKILL)
    timer.wait()
    return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def write_imports(folder):
    """Writes a file that imports 10,000 others, and 10,000 files of which each imports the next."""
    for i in range(10_000):
        (folder / f"wide{i}.titan").write_text(f"fn f{i}(x) = x\n")
        (folder / f"chain{i}.titan").write_text(f'import "chain{i + 1}.titan"\n')
    (folder / "wide.titan").write_text(many('import "wide{i}.titan"\n', 10_000))
    return {"10,000 imports": folder / "wide.titan", "a chain of 10,000 imports": folder / "chain0.titan"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--titanc", default="build/bin/titanc")
    parser.add_argument("--case", default="")
    args = parser.parse_args()
    titanc = str(Path(args.titanc).resolve())
    failures = cases = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        files = write_imports(scratch)
        for number, (name, text) in enumerate(CASES.items()):
            files[name] = scratch / f"case{number}.titan"
            files[name].write_text(text, encoding="latin-1" if "no text" in name else "utf-8")
        for name, path in files.items():
            if args.case not in name:
                continue
            for what, command in ("check", [titanc, "check", path]), ("fmt", [titanc, "fmt", "-"]):
                with open(path, "rb") as stdin:
                    status, seconds, megabytes = measure(command, stdin, scratch)
                bad = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) > 1
                bad |= seconds > SECONDS or megabytes > MEGABYTES
                cases += 1
                failures += bad
                state = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                print(f"{name:42} {what:5} {seconds:6.2f} s {megabytes:6.0f} MB  status {state}"
                      f"{'  TOO MUCH' if bad else ''}", flush=True)
    print(f"{cases - failures} of {cases} cases passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
