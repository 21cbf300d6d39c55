"""Observation of a running program: allocations, a profile, events."""

import json
import math
import os
import re
import shutil
import socket
import subprocess
import unittest

from program import COUNTER, EXE, ProgramCase, losses, main


class ObserveTest(ProgramCase):
    def count_allocations(self, steps, ranks):
        """Allocations of the first rank in a run that reads metrics twice."""
        counted = self.folder / "allocations"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        processes = []
        for rank in range(ranks):
            variables = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                         "MASTER_PORT": str(port), "LD_PRELOAD": str(COUNTER)}
            if rank == 0:
                variables["ALLOCATIONS_FILE"] = str(counted)
            processes.append(self.start("--data", self.text, "--out", self.folder / "counted",
                                        "--log-every", 100000, "--resume", "none", "--steps", 5000,
                                        "--stop-at", steps, environment={**os.environ, **variables}))
        for process in processes:
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        return int(counted.read_text())

    @unittest.skipIf(COUNTER.name == "none", "built with a sanitizer")
    def test_a_step_allocates_nothing(self):
        """Between two metrics rows, no thread of the process allocates. A run with 1,000 more steps has the
        same count, up to events that do not occur in every step: a metric with more digits, a look into
        /proc for a slow peer, attempts until all ranks have connected."""
        for ranks in (1, 2):
            few, many = (self.count_allocations(steps, ranks) for steps in (10, 1010))
            self.assertLess(abs(many - few), 500)

    def test_profile(self):
        """--profile writes spans for Perfetto by source line and operation, one file per rank, of the
        requested number of steps, in sequence."""
        run, _ = self.train("run", "--profile=3", "--set", "checkpoint.every=4", ranks=2)
        for rank in range(2):
            trace = json.loads((run / f"profile/rank-{rank}.json").read_text())["traceEvents"]
            spans = [e for e in trace if e["ph"] == "X"]
            self.assertEqual({e["pid"] for e in trace}, {rank})
            names = [e["name"] for e in spans]
            self.assertEqual(names.count("step"), 3)
            self.assertEqual(names.count("data"), 3)
            self.assertEqual(names.count("checkpoint"), 1)
            operations = [e for e in spans if e["args"]["line"]]
            self.assertEqual(len(operations), 3 * 3)
            self.assertEqual({e["name"] for e in operations},
                             {"bigram.titan:3 all_gather", "bigram.titan:4 all_gather",
                              "bigram.titan:9 all_reduce"})
            for one, next_one in zip(operations, operations[1:]):
                self.assertLessEqual(one["ts"] + one["dur"], next_one["ts"] + 1e-2)
            steps = [e for e in spans if e["name"] == "step"]
            for e in operations:
                self.assertTrue(any(s["ts"] <= e["ts"] and e["ts"] + e["dur"] <= s["ts"] + s["dur"] + 1
                                    for s in steps))
        plain, _ = self.train("plain")
        self.assertFalse((plain / "profile").exists())

    def test_no_profile(self):
        """A run that ends before its profile starts reports it; a profile of no steps is refused."""
        run, output = self.train("short", "--profile=5", "--steps", 2)
        self.assertIn("warning: there is no profile", output)
        self.assertFalse((run / "profile").exists())
        self.assertIn("--profile: Value 0 not in range", self.train("none", "--profile=0", status=2)[1])

    def test_output_that_cannot_be_written(self):
        """A command fails if its result cannot be printed."""
        run, _ = self.train("run", "--steps", 2)
        for command in (("eval", "--data", self.text), ("generate", "--prompt", "a")):
            with open("/dev/full", "w") as full:
                ended = subprocess.run([EXE, *map(str, command), "--init-from", run], stdout=full,
                                       stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                       env={**os.environ, "TITAN_NUM_THREADS": "1"})
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn("cannot write to standard output: No space left", ended.stderr)

    def read_events(self, run):
        """Read with TensorBoard."""
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("needs the packages of requirements-tests.txt")
        events = EventAccumulator(str(run / "tensorboard"))
        events.Reload()
        return events

    def test_tensorboard(self):
        """TensorBoard reads the events under TorchTitan's names; steps that a resumed run repeats occur
        once."""
        settings = ["--set", "checkpoint.every=10"]
        run, _ = self.train("run", *settings)
        shutil.rmtree(run / "checkpoints/step-40")
        self.train("run", *settings)
        events = self.read_events(run)
        self.assertLessEqual({"loss_metrics/global_avg_loss", "loss_metrics/global_max_loss", "grad_norm",
                              "throughput(tps)", "tflops",
                              "time_metrics/end_to_end(s)", "time_metrics/data_loading(s)",
                              "time_metrics/data_loading(%)", "memory/max_active(GiB)",
                              "memory/max_active(%)", "memory/max_reserved(GiB)",
                              "memory/max_reserved(%)", "n_tokens_seen", "lr"},
                             set(events.Tags()["scalars"]))
        self.assertNotIn("mfu(%)", events.Tags()["scalars"])
        read = events.Scalars("loss_metrics/global_avg_loss")
        self.assertEqual([e.step for e in read], list(range(1, 41)))
        for event, loss in zip(read, losses(run), strict=True):
            self.assertAlmostEqual(event.value, loss, places=5)

    def test_losses_with_names(self):
        """A named loss is in the rows, the events and the output of `eval`, not in the console lines."""
        settings = ["--set", f"eval.data.path={self.text}", "--set", "eval.every=2"]
        run, output = self.train("run", *settings, "--steps", 4)
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([row["losses"] for row in rows], [{"nll": row["loss"]} for row in rows])
        evaluated = [row for row in rows if "eval_loss" in row]
        self.assertEqual(len(evaluated), 2)
        for row in rows:
            expected = {"nll": row["eval_loss"]} if row in evaluated else None
            self.assertEqual(row.get("eval_losses"), expected)
        self.assertNotIn("nll", output)
        out, _ = self.run_exe("eval", "--data", self.text, "--init-from", run)
        whole = out.split()[1]
        self.assertTrue(out.startswith(f"loss {whole} (nll {whole})  perplexity "), out)
        self.assertAlmostEqual(float(out.split()[5]), math.exp(float(whole)), places=9)
        scalars = self.read_events(run).Scalars
        for event, row in zip(scalars("loss_metrics/losses/nll"), rows, strict=True):
            self.assertAlmostEqual(event.value, row["loss"], places=5)
        for event, row in zip(scalars("validation_metrics/losses/nll"), evaluated, strict=True):
            self.assertAlmostEqual(event.value, row["eval_loss"], places=5)

    def test_share_of_the_peak(self):
        """If the device's peak is configured, mfu is in the rows, the events and the lines: 800 operations
        per token by the formula, 1,000 as executed."""
        run, output = self.train("run", "--set", "metrics.peak_tflops=1e-4", "--steps", 3, ranks=2)
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), 3)
        for row in rows:
            share = 100 * 800e-12 * row["tokens_per_second"] / 2 / 1e-4
            self.assertAlmostEqual(row["mfu"] / share, 1, places=4)
            self.assertAlmostEqual(row["tflops"] / (1000e-12 * row["tokens_per_second"]), 1, places=4)
        for row, shown in zip(rows, re.findall(r" tok/s  mfu ([0-9.]+) %  ", output), strict=True):
            self.assertLess(abs(row["mfu"] - float(shown)), 0.051)
        scalars = self.read_events(run).Scalars
        for row, mfu, tflops in zip(rows, scalars("mfu(%)"), scalars("tflops"), strict=True):
            self.assertAlmostEqual(mfu.value / row["mfu"], 1, places=4)
            self.assertAlmostEqual(tflops.value / (row["mfu"] / 100 * 1e-4), 1, places=4)
        plain, output = self.train("plain", "--steps", 1)
        self.assertNotIn("mfu", output + (plain / "metrics.jsonl").read_text())
        self.assertIn("`metrics.peak_tflops` takes a number from 0 on, not -1",
                      self.train("none", "--set", "metrics.peak_tflops=-1", status=1)[1])


main()
