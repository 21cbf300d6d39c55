"""Runs titanc and titan-predict. Plans and steps are kept in a folder by the program's text and the compiler's."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

from case import ROOT

BUILD = Path(os.environ.get("TITAN_BUILD", ROOT / "build"))
TITANC, PREDICT = BUILD / "bin" / "titanc", BUILD / "bin" / "titan-predict"
CHUNK = 200  # programs of one call of titan-predict


class Refused(Exception):
    """What titanc says of a program that it does not compile."""


def call(command: list) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr)
    return done.stdout


class Compiler:
    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.version = hashlib.sha256(TITANC.read_bytes()).hexdigest()

    def place(self, text: str) -> Path:
        return self.folder / hashlib.sha256((self.version + text).encode()).hexdigest()[:24]

    def plan(self, text: str) -> dict:
        """Of `titanc info --json`, with the processor seconds of the compiler as `compile_seconds`; the step is then
        in the file `step`. Raises Refused."""
        place = self.place(text)
        stored, program, step = (place.with_suffix(end) for end in (".json", ".titan", ".step"))
        if not (stored.exists() and step.exists()):
            program.write_text(text)
            before = os.times()
            plan = json.loads(call([TITANC, "info", program, "--train", "r", "--json", "--target", "cuda",
                                    "--step-program", step]))
            after = os.times()
            plan["compile_seconds"] = (after.children_user + after.children_system
                                       - before.children_user - before.children_system)
            stored.write_text(json.dumps(shorten(plan)))
        return json.loads(stored.read_text()) | {"step": step}


def shorten(plan: dict) -> dict:
    """What is read of a plan."""
    memory = plan["memory"]
    return {"parameters": plan["parameters"]["total"], "flops_per_token": plan["flops_per_token"],
            "memory": max([memory["total"], *(stage["total"] for stage in memory["stages"])]), "ranks": plan["ranks"],
            "compile_seconds": plan["compile_seconds"]}


def predict(machine: Path, steps: list) -> list[dict]:
    """The prediction of each step."""
    results = []
    for begin in range(0, len(steps), CHUNK):
        output = call([PREDICT, "--machine", machine, *steps[begin:begin + CHUNK]])
        results += [json.loads(line) for line in output.splitlines() if line.strip()]
    if len(results) != len(steps):
        raise SystemExit(f"titan-predict answers {len(results)} of {len(steps)} programs")
    return results
