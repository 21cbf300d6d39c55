#!/usr/bin/env python3
"""Checks the help that diagnostics give for names of PyTorch, NumPy and JAX: every example in it compiles.

usage: foreign.py TITANC

Reads compiler/syntax/ForeignNames.def. Each entry's example must check in a model, as a reader would paste
it. A call of each name as a function and as a method, and a call with each argument, must be refused with
the entry's help. Exit status 1 if one fails.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "compiler/syntax/ForeignNames.def"
LEAST = 120  # entries, in case the table is read wrongly
MODULES = ("activation", "init", "loss", "norm", "shift")
SURROUNDINGS = """
  input x[batch, seq, embed]
  input y[batch, seq, embed]
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  input table[vocab, embed]
  input logits[batch, seq, vocab]
  input q[batch, seq, heads, head]
  input k[batch, seq, heads, head]
  input v[batch, seq, heads, head]
  dims one = 1, pair = 2
  let mask = tokens > 3
"""
FORMALS = "embed = 8, heads = 2, head = 4, ffn = 16, vocab = 32, layers = 4"
STATEMENT = re.compile(r"(let|param|buffer|update|repeat|loss|in|dims)\b")
STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')


def entries(macro, fields):
    """The macro's calls in the table, each a list of its texts."""
    text = re.sub(r"^\s*//.*$|^#.*$", "", TABLE.read_text(), flags=re.M)
    for call in re.finditer(macro + r"\(((?:\s*(?:\"(?:[^\"\\]|\\.)*\"\s*)+,?)+)\)", text):
        parts = [[]]
        for token in re.finditer(r'"(?:[^"\\]|\\.)*"|,', call.group(1)):
            if token.group() == ",":
                parts.append([])
            else:
                parts[-1].append(STRINGS.match(token.group()).group(1))
        assert len(parts) == fields, call.group()
        yield ["".join(part) for part in parts]


def model(number, body):
    return f"model M{number}({FORMALS}) {{{SURROUNDINGS}{body}}}\n"


def make_statements(example):
    """The example as statements: an expression becomes the value of a `let`."""
    lines = []
    for number, part in enumerate(re.split(r"; (?![^{]*})", example)):
        lines.append(part if STATEMENT.match(part) else f"let pasted{number} = {part}")
    return "".join(f"  {line}\n" for line in lines)


def check(titanc, text, folder):
    """The errors of a program, with their lines."""
    file = Path(folder) / "main.titan"
    file.write_text("".join(f"import std.{module}\n" for module in MODULES) + text)
    run = subprocess.run([titanc, "check", str(file), "--diagnostics=json"], capture_output=True,
                         text=True)
    return [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]


def wrong_examples(titanc, table, folder):
    """The errors in the examples of the table's entries."""
    text = "".join(model(i, make_statements(example)) for i, (_, example, *_) in enumerate(table))
    starts = len(MODULES)
    lines = ("\n" * starts + text).split("\n")
    for error in check(titanc, text, folder):
        if error["severity"] == "error":
            above = [line for line in lines[:error["line"]] if line.startswith("model")][-1]
            entry = table[int(re.match(r"model M(\d+)", above).group(1))]
            yield f"{entry[0]}: `{entry[1]}`: {error['message']}"


def unhelpful(titanc, cases, folder):
    """The cases (name, statement, help) whose statement is not refused with that help."""
    chunk = 40  # cases per program: titanc shows no more errors
    for first in range(0, len(cases), chunk):
        some = cases[first:first + chunk]
        text = "".join(model(i, f"  {statement}\n") for i, (_, statement, _) in enumerate(some))
        helps = [error.get("help", "") for error in check(titanc, text, folder)
                 if error["severity"] == "error"]
        for (what, statement, wanted), got in zip(some, helps):
            if wanted not in got:
                yield f"{what}: `{statement}` says `{got}`, not `{wanted}`"
        if len(helps) != len(some):
            yield f"{len(helps)} errors for {len(some)} mistakes from {some[0][0]} on"


def main():
    titanc = sys.argv[1]
    names = list(entries("TITAN_FOREIGN", 4))
    arguments = [[entry[0], *entry[2:], entry[1]]
                 for entry in entries("TITAN_FOREIGN_ARGUMENT", 5)]
    cases = []
    for all_names, example, remark, module, *_ in names:
        wanted = example or remark
        for name in all_names.split():
            cases.append((name, f"let out = torch.{name}(x)", wanted))
            cases.append((name, f"let out = x.{name}()", wanted))
    known = {"": "mean(x, over embed", "cross_entropy": "cross_entropy(logits, labels, over vocab",
             "mean": "mean(x, over embed", "sum": "sum(x, over embed", "gelu": "gelu(x",
             "attention": "attention(q, k, v, over head, along seq", "dropout": "dropout(x"}
    for all_names, example, remark, module, functions in arguments:
        for name in all_names.split():
            for function in functions.split() or [""]:
                if function in known:
                    cases.append((name, f"let out = {known[function]}, {name} = 0)",
                                  example or remark))
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(wrong_examples(titanc, [e for e in names + arguments if e[1]], folder))
        wrong += unhelpful(titanc, cases, folder)
    for line in wrong:
        print(line)
    print(f"{len(names)} entries, {len(cases)} mistakes, {len(wrong)} faults")
    return 1 if wrong or len(names) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
