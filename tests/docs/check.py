#!/usr/bin/env python3
"""Checks every example of the documentation, or updates its generated output.

    check.py --tools build/bin              exit status 1 and a list if something differs
    check.py --tools build/bin --update     rewrite what is generated

Both take pages; without, they go through README.md and all of docs/.

In a page, the first line of a fenced block says what the block contains:

    ```titan                         a program: `titanc check` accepts it without a warning, and
                                     `titanc fmt` does not change it
    ```titan wrong T0302             a program that is refused with exactly these codes
    ```titan in NAME                 a fragment that replaces {{example}} in wrappers/NAME.titan;
                                     diagnostics call the rest of that file around.titan
    ```titan file NAME.titan         a file that later blocks of the page import
    ```titan part of PATH            an excerpt of that program, which `titanc check` must accept
    ```diagnostic                    the diagnostics of the preceding program  (generated)
    ```console                       lines `$ command`, then their output  (generated)
    ```console loosely               the same, except that numbers may differ
    ```LANGUAGE part of PATH         an excerpt of that file

`in`, `wrong` and `file` can be combined; options of titanc follow `--`. bash runs the commands in the
page's folder, or, if there is a folder with the name of the page, in a copy of that folder. The tools are
in PATH, and `$out` is an empty folder for results. Between `<!-- generated: TITLE -->` and `<!-- end -->`
is the output of the function that GENERATED below names.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
COMMANDS = re.compile(r"(\$ .*?(?<!\\)\n)*", re.S)
DIGITS = re.compile(r"_?\d+")
SECTION = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.S)
CODE = re.compile(r"\[(T\d{4})\]$", re.M)


class Tools:
    """The folder of titanc and the other tools; runs commands with them in PATH."""

    def __init__(self, path):
        directory = path if os.path.isdir(path) else os.path.dirname(path)
        self.environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C",
                            "PATH": f"{Path(directory).resolve()}:{os.environ['PATH']}"}

    def run(self, command, cwd, stdin=None):
        """The exit status and the output, with standard error."""
        done = subprocess.run(command, cwd=cwd, env=self.environment, text=True, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              executable="/bin/bash" if isinstance(command, str) else None,
                              shell=isinstance(command, str))
        # Documents must not contain the path of this checkout, or of the checkout that built the tools.
        return done.returncode, re.sub(r"/[\w./-]*/(?=(stdlib|docs|examples)/)", "", done.stdout)


def option_table(tools):
    """The options of runs as a table, from `titanc info --options`."""
    _, text = tools.run(["titanc", "info", "--options"], None)
    rows = ["| option | takes | default | changes | meaning |", "|---|---|---|---|---|"]
    entry = re.compile(r"^(\S+): (.*?)(?:, default (.*))?, fixed at (compile|launch) time\n +(.*)$", re.M)
    for path, kind, default, fixed, meaning in entry.findall(text):
        without = "of the file" if kind in ("name", "dimension") else "must be set"  # by a `default` declaration
        shown = f"`{default}`" if default and default != '""' else "none" if default else without
        when = "by rebuilding" if fixed == "compile" else "at launch too"
        rows.append(f"| `{path}` | {kind} | {shown} | {when} | {meaning[0].upper()}{meaning[1:]} |")
    return "\n".join(rows) + "\n"


def declared_table(kind, tools):
    """The optimizers or schedules of the standard library with their options, from `titanc info --options FILE`."""
    text = (ROOT / "stdlib" / "std" / f"{kind}s.titan").read_text()
    _, shared = tools.run(["titanc", "info", "--options"], None)
    entry = re.compile(rf"^{kind}\.(\w+): (.*?), default (.*), fixed at \w+ time\n +(.*)$", re.M)
    rows = [f"| {kind} | option | takes | default | meaning |", "|---|---|---|---|---|"]
    for name in re.findall(rf"^(?:default )?{kind} (\w+)\(", text, re.M):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "run.titan"
            program.write_text("model M(embed = 2) {\n  input tokens: int[batch, seq]\n"
                               "  param w[seq, embed] ~ normal(1)\n"
                               "  let h[batch, embed] = float(tokens) @ w\n"
                               "  loss = mean(h * h, over batch, embed)\n}\n"
                               f"train t = M {{ data = text(\"t\") {{ seq = 2, batch = 2 }}; {kind} = {name} }}\n")
            _, output = tools.run(["titanc", "info", "--options", str(program)], None)
        own = [e for e in entry.findall(output) if f"{kind}.{e[0]}:" not in shared]
        for option, takes, default, meaning in own:
            rows.append(f"| `{name}` | `{option}` | {takes} | `{default}` | {meaning[0].upper()}{meaning[1:]} |")
    return "\n".join(rows) + "\n"


def code_list(tools):
    """Every diagnostic, in the order of the codes, from `titanc explain`."""
    sources = ROOT / "compiler" / "diagnostics"
    text = "".join(path.read_text() for path in sorted(sources.glob("*.def")))
    numbers = sorted(map(int, re.findall(r"TITAN_DIAGNOSTIC\((\d+),\s*\w+,\s*\w+,", text)))
    out = []
    for number in numbers:
        status, output = tools.run(["titanc", "explain", f"T{number:04}"], None)
        if status:
            raise SystemExit(f"titanc explain T{number:04}: {output}")
        title, body = output.split("\n", 1)
        lines, indented = [], False
        for line in body.strip("\n").split("\n"):  # indented lines are code to Markdown too
            if line.startswith("    ") and not indented and lines and lines[-1]:
                lines.append("")
            indented = line.startswith("    ")
            lines.append(line)
        out.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(out)


def schedule_table(tools):
    """Bubbles and peak activations of all schedules, from `titanc schedule all`."""
    costs = ["--forward", "1", "--backward", "1.2", "--weight", "0.867"]
    line = re.compile(r"^ +(\w+) +(\d+) +(\S+)(?: %)? +(\S+)$", re.M)

    def cells(ranks, microbatches, stages):
        status, output = tools.run(["titanc", "schedule", "all", "--ranks", ranks, "--microbatches", microbatches,
                                  "--stages-per-rank", stages, *costs], None)
        if status:
            raise SystemExit(f"titanc schedule: {output}")
        return {name + (" x 4" if count == "4" else ""): "" if bubble == "-" else f"{bubble} % / {peak}"
                for name, count, bubble, peak in line.findall(output)}

    columns, rows = None, []
    for ranks in ("4", "8", "16"):
        for microbatches in ("8", "16", "64", "128"):
            row = {**cells(ranks, microbatches, "2"), **cells(ranks, microbatches, "4")}
            order = [name for name in row if " " not in name]
            columns = columns or sorted(row, key=lambda name: order.index(name.split()[0]))
            rows.append(f"| {ranks}, {microbatches} | " + " | ".join(row[name] for name in columns) + " |")
    head = "| p, m | " + " | ".join(f"`{name.split()[0]}`{name[len(name.split()[0]):]}" for name in columns) + " |"
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *rows]) + "\n"


GENERATED = {"options": option_table, "optimizers": partial(declared_table, "optimizer"),
             "schedules": partial(declared_table, "schedule"), "codes": code_list,
             "pipeline-schedules": schedule_table}


class Page:
    def __init__(self, path, tools, update):
        self.path, self.tools, self.update = path, tools, update
        self.text = path.read_text()
        self.errors, self.count = [], 0
        self.output = ""  # of titanc for the last example
        self.excerpted = {}  # programs that excerpts come from: path -> text

    def complain(self, at, what, text=None):
        line = (text or self.text).count("\n", 0, at) + 1
        self.errors.append(f"{self.path}:{line}: {what}")

    def check(self):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            fresh = FENCE.sub(self.check_block, self.text)
        fresh = SECTION.sub(self.check_section, fresh)
        if self.update and fresh != self.text:
            self.path.write_text(fresh)
        return self.errors

    def check_section(self, match):
        """The section with current output; complains if that changes the page and `update` is off."""
        made = match[1] + GENERATED[match[2]](self.tools) + match[3]
        if made != match[0] and not self.update:
            self.complain(match.start(), f"`{match[2]}` is not current: run with --update",
                          match.string)
        return made

    def check_block(self, match):
        """The block with current output; complains about faults."""
        kind, info, body = match.groups()
        if kind == "titan":
            self.count += 1
            self.check_program(match.start(), info.split(" -- ", 1), body)
        elif kind == "diagnostic":
            return self.check_output(match, self.output)
        elif kind == "console":
            self.count += 1
            commands = COMMANDS.match(body)[0]
            script = re.sub(r"^\$ ", "", commands, flags=re.M)
            status, output = self.tools.run(f"out={self.folder}\n{script}", self.command_folder())
            if status:
                self.complain(match.start(), f"`{script.strip()}` failed")
            return self.check_output(match, commands + output)
        elif info.startswith(" part of "):
            self.count += 1
            source = self.path.parent / info.split()[2]
            if not source.exists() or body not in source.read_text():
                self.complain(match.start(), f"this is no excerpt of {source.name}")
        return match[0]

    def command_folder(self):
        """The folder in which the page's commands run."""
        own = self.path.with_suffix("")
        if not own.is_dir():
            return self.path.parent
        copy = self.folder / "copy"
        if not copy.exists():
            shutil.copytree(own, copy)
        return copy

    def check_output(self, match, output):
        """The block with this output; complains if the page has another one and `update` is off."""
        made = f"```{match[1]}{match[2]}\n{output.rstrip()}\n```"
        loosely = "loosely" in match[2]
        differs = DIGITS.sub("", made) != DIGITS.sub("", match[0]) if loosely else made != match[0]
        if differs and not self.update:
            self.complain(match.start(), f"the tools say something else:\n{output}")
        return made

    def check_program(self, at, info, body):
        """Checks a program at offset `at` of the page; `info` has the words of its fence and titanc's options."""
        words = info[0].split()
        self.output = ""
        if words[:2] == ["part", "of"]:
            return self.check_excerpt(at, words[2], body)
        name, wrong, before, own = "example.titan", [], 0, body.count("\n")
        whole = "in" not in words
        while words:
            word = words.pop(0)
            if word == "in":
                wrapper = (HERE / "wrappers" / f"{words.pop(0)}.titan").read_text()
                before = wrapper[:wrapper.index("{{example}}")].count("\n")
                body = wrapper.replace("{{example}}\n", body)
            elif word == "file":
                name = words.pop(0)
            elif word == "wrong":
                while words and CODE.match(f"[{words[0]}]"):
                    wrong.append(words.pop(0))
            else:
                return self.complain(at, f"unknown word `{word}` on the fence")
        (self.folder / name).write_text(body)
        options = shlex.split(info[1]) if len(info) > 1 else []
        status, output = self.tools.run(["titanc", "check", name, *options], self.folder)
        codes = CODE.findall(output)
        if set(codes) != set(wrong) or (status != 0) != bool(wrong):
            expected = f"codes {', '.join(wrong)}" if wrong else "no complaint"
            self.complain(at, f"expected {expected}, but titanc says:\n{output}")
        if whole and not wrong:
            status, laid = self.tools.run(["titanc", "fmt", "-"], self.folder, stdin=body)
            if status or laid != body:
                self.complain(at, f"not laid out as titanc fmt does:\n{laid}")
        # Lines of a fragment are counted from its own first line; those around it are not shown.
        def shown(match):
            line = int(match[1]) - before
            if whole or 0 < line <= own:
                return f"example.titan:{line}:"
            return f"around.titan:{match[1]}:"
        self.output = re.sub(r"^example\.titan:(\d+):", shown, output, flags=re.M)

    def check_excerpt(self, at, name, body):
        """Checks that `body` is part of the program `name`, which titanc must accept."""
        path = self.path.parent / name
        if name not in self.excerpted:
            self.excerpted[name] = path.read_text()
            status, output = self.tools.run(["titanc", "check", path.name], path.parent)
            if status or output:
                self.complain(at, f"{name} does not check:\n{output}")
            status, output = self.tools.run(["titanc", "fmt", "--check", path.name], path.parent)
            if status:
                self.complain(at, f"{name}: {output}")
        if body.rstrip("\n") not in self.excerpted[name]:
            self.complain(at, f"this is no excerpt of {name}")


def main():
    parser = argparse.ArgumentParser(description="checks the examples of the documentation")
    parser.add_argument("--tools", required=True, help="titanc, or the folder it is in")
    parser.add_argument("--update", action="store_true", help="rewrite what is generated")
    parser.add_argument("pages", nargs="*", type=Path)
    arguments = parser.parse_args()
    tools, errors, count = Tools(arguments.tools), [], 0
    pages = arguments.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in pages:
        page = Page(path, tools, arguments.update)
        errors += page.check()
        count += page.count
    print("\n".join(errors + [f"{count} examples, {len(errors)} wrong"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
