"""Runs titanc and titan-predict. Plans and steps are kept in a folder by the program's text and the compiler's."""

import hashlib
import json
import os
import subprocess
import tempfile
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


def call_timed(command: list) -> tuple[str, float]:
    """The output of a command, and its processor seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        if status:
            raise Refused(errors.read())
        return out.read(), usage.ru_utime + usage.ru_stime


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
            output, plan_seconds = call_timed([TITANC, "info", program, "--train", "r", "--json", "--target", "cuda",
                                               "--step-program", step])
            plan = json.loads(output) | {"compile_seconds": plan_seconds}
            stored.write_text(json.dumps(shorten(plan)))
        return json.loads(stored.read_text()) | {"step": step}


def shorten(plan: dict) -> dict:
    """What is read of a plan."""
    memory = plan["memory"]
    return {"parameters": plan["parameters"]["total"], "flops_per_token": plan["flops_per_token"],
            "memory": max([memory["total"], *(stage["total"] for stage in memory["stages"])]), "ranks": plan["ranks"],
            "compile_seconds": plan["compile_seconds"]}


def predict_on(machines: list, steps: list) -> list[list[dict]]:
    """For each machine the prediction of each step."""
    found = {}
    for begin in range(0, len(steps), CHUNK):
        chosen = [word for machine in machines for word in ("--machine", machine)]
        for line in call([PREDICT, *chosen, *steps[begin:begin + CHUNK]]).splitlines():
            each = json.loads(line)
            found[each["machine"], each["step"]] = each
    return [[found[str(machine), str(step)] for step in steps] for machine in machines]


def predict(machine: Path, steps: list) -> list[dict]:
    """The prediction of each step."""
    return predict_on([machine], steps)[0]
