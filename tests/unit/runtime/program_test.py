"""Runs a program that links the runtime, as a user would: the command line, the run's directory,
several processes, stopping, resuming, generating, and what a run leaves behind.
Usage: program_test.py EXE TORCHRUN COUNT_ALLOCATIONS_LIBRARY|none"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

EXE, TORCHRUN, COUNTER = (Path(argument).resolve() for argument in sys.argv[1:4])
TEXT = ("In the beginning was the word, and the word was with us. " * 40).encode()


def losses(run: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="titan-program-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.text = self.folder / "text"
        self.text.write_bytes(TEXT)

    def start(self, *arguments, ranks=1, environment=os.environ):
        launcher = [] if ranks == 1 else [TORCHRUN, "--standalone", "--no-python",
                                          "--nproc-per-node", str(ranks)]
        return subprocess.Popen([*launcher, EXE, *map(str, arguments)], text=True,
                                errors="replace", cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**environment, "TITAN_NUM_THREADS": "1"})

    def run_exe(self, *arguments, ranks=1, status=0):
        process = self.start(*arguments, ranks=ranks)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return out, err

    def train(self, name, *arguments, ranks=1, status=0):
        out, err = self.run_exe("--data", self.text, "--out", self.folder / name, "--log-every", 1,
                                *arguments, ranks=ranks, status=status)
        return self.folder / name, out + err

    def test_one_and_two_ranks_agree(self):
        """Two processes start with the same bits and lose the same as one, to the last digits."""
        runs = []
        for ranks in (1, 2):
            runs.append(self.train(f"run{ranks}", "--save-initial", f"i{ranks}",
                                   "--save-gradients", f"g{ranks}", ranks=ranks)[0])
        one, two = map(losses, runs)
        self.assertEqual(len(one), 40)
        self.assertLess(one[-1], one[0] - 1)
        for a, b in zip(one, two):
            self.assertLessEqual(abs(a - b), 1e-12 * abs(a))
        self.assertEqual((self.folder / "i1").read_bytes(), (self.folder / "i2").read_bytes())
        self.assertGreater(os.path.getsize(self.folder / "g1"), 256 * 256 * 8)
        for run in runs:
            status = json.loads((run / "status.json").read_text())
            self.assertEqual((status["state"], status["step"]), ("finished", 40))
            self.assertEqual((run / "program.titan").read_text(), "# by hand\n")
            self.assertIn("schedule.decay = \"linear\"", (run / "config.toml").read_text())

    def test_stopped_and_resumed(self):
        """SIGTERM saves and exits 75; the same command goes on and ends where one without a stop
        ends, bit by bit, with no step missing or double in the metrics."""
        whole, _ = self.train("whole", "--steps", 300)
        process = self.start("--data", self.text, "--out", self.folder / "cut", "--log-every", 1,
                             "--steps", 300)
        while not (self.folder / "cut/metrics.jsonl").exists() or len(losses(self.folder / "cut")) < 3:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, out + err)
        status = json.loads((self.folder / "cut/status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"]), ("stopped", 75))
        self.assertLess(status["step"], 300)
        cut, text = self.train("cut", "--steps", 300)
        self.assertIn("resuming after step", text)
        self.assertEqual(losses(cut), losses(whole))
        self.assertEqual((cut / "model.safetensors").read_bytes(),
                         (whole / "model.safetensors").read_bytes())

    def test_stopped_on_two_ranks_resumed_on_one(self):
        """torchrun passes SIGTERM on; both ranks stop after the same step, and one rank goes on from
        what they saved."""
        whole, _ = self.train("whole", "--steps", 300)
        cut = self.folder / "cut"
        process = self.start("--data", self.text, "--out", cut, "--log-every", 1, "--steps", 300,
                             ranks=2)
        while not (cut / "metrics.jsonl").exists() or len(losses(cut)) < 3:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        status = json.loads((cut / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"]), ("stopped", 75))
        self.train("cut", "--steps", 300)
        self.assertEqual(len(losses(cut)), 300)
        for a, b in zip(losses(cut), losses(whole)):
            self.assertLessEqual(abs(a - b), 1e-11 * abs(b))

    def test_checkpoints_and_retention(self):
        """Checkpoints come at their interval and at the end, the latest are kept; a run that is
        started again goes on from the last one, also on another mesh; rows after it are dropped."""
        settings = ["--set", "checkpoint.every=10", "--set", "checkpoint.keep=2"]
        whole, _ = self.train("whole", *settings, "--steps", 45)
        kept = {path.name for path in (whole / "checkpoints").iterdir()}
        self.assertEqual(kept, {"step-40", "step-45"})
        manifest = json.loads((whole / "checkpoints/step-40/checkpoint.json").read_text())
        self.assertEqual((manifest["step"], manifest["data"]["sample"], manifest["random"]["seed"]),
                         (40, 160, 3))
        self.assertEqual({f["content"] for f in manifest["files"]}, {"parameters", "optimizer"})
        for ranks in (1, 2):
            again = self.folder / f"again{ranks}"
            shutil.copytree(whole, again)
            shutil.rmtree(again / "checkpoints/step-45")
            _, text = self.train(again.name, *settings, "--steps", 45, ranks=ranks)
            self.assertIn("resuming after step 40", text)
            for a, b in zip(losses(again), losses(whole), strict=True):
                self.assertLessEqual(abs(a - b), 1e-11 * abs(b) if ranks == 2 else 0)
        _, text = self.train("whole", *settings, "--steps", 45)
        self.assertIn("resuming after step 45", text)
        self.assertIn("seed 3", self.train("whole", "--seed", 4, status=1)[1])

    def test_damaged_checkpoints(self):
        """A changed bit, a cut or missing file, a damaged manifest: refused with the file's name
        when asked for, passed over by `--resume auto` for the one before."""
        settings = ["--set", "checkpoint.every=10", "--steps", 30]
        whole, _ = self.train("whole", *settings)

        def flip(file):
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
        damages = {"model-00001-of-00001.safetensors": flip,
                   "optimizer-00001-of-00001.safetensors": lambda f: f.write_bytes(f.read_bytes()[:-8]),
                   "checkpoint.json": flip}
        for ranks, (name, damage) in enumerate(damages.items(), start=1):
            run = self.folder / f"damaged-{ranks}"
            shutil.copytree(whole, run)
            damage(run / "checkpoints/step-30" / name)
            _, text = self.train("other", "--resume", run / "checkpoints/step-30", status=1)
            self.assertRegex(text, f"error: .*step-30/{name}")
            _, text = self.train(run.name, *settings, ranks=ranks if ranks < 3 else 1)
            self.assertRegex(text, f"warning: .*step-30/{name}")
            self.assertIn("resuming after step 20", text)
            for a, b in zip(losses(run), losses(whole), strict=True):
                self.assertLessEqual(abs(a - b), 1e-11 * abs(b))
        missing = self.folder / "missing"
        shutil.copytree(whole, missing)
        for step in (10, 20, 30):
            (missing / f"checkpoints/step-{step}/model-00001-of-00001.safetensors").unlink()
        _, text = self.train("missing", *settings)
        self.assertNotIn("resuming", text)
        self.assertEqual(losses(missing), losses(whole))

    def test_weights_of_a_stopped_run(self):
        """generate and --init-from take a run's directory before the run has come to its end."""
        run, _ = self.train("run", "--set", "checkpoint.every=100", "--steps", 200)
        (run / "model.safetensors").unlink()
        out, _ = self.run_exe("generate", "--init-from", run, "--prompt", "In th", "--max-tokens", 20)
        self.assertTrue(out.startswith("In the "), out)

    def start_ranks(self, out, *, variables, fate, environment=None):
        """Two ranks without a launcher, told their place by its variables. In the fourth step one of
        them meets its fate, a signal: RANK:SIGNAL."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        ranks = []
        for rank in range(2):
            place = {name: value.format(rank=rank) for name, value in variables.items()}
            ranks.append(self.start("--data", self.text, "--out", out, "--log-every", 1,
                                    environment={**os.environ, **(environment or {}), **place,
                                                 "MASTER_PORT": str(port), "BIGRAM_FATE": fate}))
        return ranks

    TORCHRUN = {"RANK": "{rank}", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "{rank}", "OMPI_COMM_WORLD_SIZE": "2",
                "OMPI_COMM_WORLD_LOCAL_RANK": "{rank}", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    SLURM = {"SLURM_PROCID": "{rank}", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "{rank}",
             "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NODEID": "0",
             "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_STEP_NODELIST": "localhost"}

    def test_a_lost_rank_is_a_fault(self):
        """When a rank is killed, the other ends at once with status 70 and says who is gone, in
        which action, at which source line and step, under any launcher's variables, and leaves the
        same where torchrun looks for it."""
        whole, _ = self.train("whole", ranks=2)
        for name, variables in (("torchrun", self.TORCHRUN), ("mpirun", self.OPEN_MPI),
                                ("srun", self.SLURM)):
            out, errors = self.folder / name, self.folder / f"{name}.json"
            ranks = self.start_ranks(out, variables=variables, fate=f"1:{signal.SIGKILL}",
                                     environment={"TORCHELASTIC_ERROR_FILE": str(errors)})
            _, err = ranks[0].communicate(timeout=60)
            ranks[1].communicate()
            self.assertEqual(ranks[0].returncode, 70, err)
            self.assertRegex(err, r"error: rank 0: .*bigram.titan:9.*rank 1 is gone.*step 4")
            self.assertEqual(losses(out), losses(whole)[:3])
            self.assertEqual(json.loads((out / "status.json").read_text())["state"], "failed")
            self.assertIn("rank 1 is gone", json.loads(errors.read_text())["message"]["message"])

    def test_a_stopped_rank_is_a_timeout(self):
        """A rank that stands still ends the other after the timeout, over shared memory and over
        sockets."""
        for transport in ("shared", "gloo"):
            ranks = self.start_ranks(self.folder / transport, variables=self.TORCHRUN,
                                     fate=f"1:{signal.SIGSTOP}",
                                     environment={"TITAN_COMM_TIMEOUT": "2", "TITAN_COMM": transport})
            begun = time.monotonic()
            _, err = ranks[0].communicate(timeout=60)
            self.assertLess(time.monotonic() - begun, 20)
            ranks[1].kill()
            ranks[1].communicate()
            self.assertEqual(ranks[0].returncode, 70, err)
            self.assertRegex(err, r"error: rank 0: .*bigram.titan:9.*step 4")

    def test_a_crash_names_its_place(self):
        """What the system ends a process for is reported by rank and source line, too."""
        errors = self.folder / "crash.json"
        ranks = self.start_ranks(self.folder / "crash", variables=self.TORCHRUN,
                                 fate=f"0:{signal.SIGSEGV}",
                                 environment={"TORCHELASTIC_ERROR_FILE": str(errors)})
        _, err = ranks[0].communicate(timeout=60)
        ranks[1].communicate(timeout=60)
        self.assertEqual(ranks[0].returncode, -signal.SIGSEGV, err)
        self.assertRegex(err, r"error: rank 0: SIGSEGV .*\(bigram.titan:4\)")

    def test_replicas(self):
        """--check-replicas ends a run whose ranks hold different bits of what ought to be the same,
        before it saves them; without it, nobody notices."""
        settings = ["--data", self.text, "--set", "checkpoint.every=10", "--steps", 20]
        for drifting, status in (("-1", 0), ("1", 1)):
            out = self.folder / f"drifting-{drifting}"
            process = self.start("--check-replicas", "--out", out, *settings, ranks=2,
                                 environment={**os.environ, "BIGRAM_DRIFTING": drifting})
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, status, err)
            self.assertEqual("'m.count' differs between ranks 0 and 1" in err, status != 0, err)
            self.assertEqual((out / "checkpoints").exists(), status == 0)

    def test_stop_at_keeps_the_schedule(self):
        """--stop-at ends early on the same schedule; --steps moves it; 0 saves the start."""
        whole, _ = self.train("whole")
        part, _ = self.train("part", "--stop-at", 5)
        self.assertEqual(losses(part), losses(whole)[:5])
        short, _ = self.train("short", "--steps", 5)
        self.assertNotEqual(losses(short), losses(part))
        start, _ = self.train("start", "--stop-at", 0, "--save-initial", "initial")
        self.assertEqual((start / "model.safetensors").read_bytes(),
                         (self.folder / "initial").read_bytes())

    def test_init_from_and_generate(self):
        """Weights are read back, from a run or a file; generation follows what was learnt."""
        run, _ = self.train("run", "--steps", 200)
        again, _ = self.train("again", "--init-from", run, "--steps", 1, "--set", "optimizer.lr=0",
                              "--resume", "none")
        self.assertEqual((again / "model.safetensors").read_bytes(),
                         (run / "model.safetensors").read_bytes())
        for ranks in (1, 2):
            out, _ = self.run_exe("generate", "--init-from", run / "model.safetensors", "--prompt",
                                  "In th", "--max-tokens", 20, ranks=ranks)
            self.assertTrue(out.startswith("In the "), out)
        warm, _ = self.run_exe("generate", "--init-from", run, "--prompt", "I", "--max-tokens", 50,
                               "--temperature", 5, "--seed", 1)
        self.assertNotEqual(warm, out)

    def count_allocations(self, steps, ranks):
        """What the first rank asked of the allocator in a run that reads metrics twice."""
        counted = self.folder / "allocations"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        processes = []
        for rank in range(ranks):
            place = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": str(port), "LD_PRELOAD": str(COUNTER)}
            if rank == 0:
                place["ALLOCATIONS_FILE"] = str(counted)
            processes.append(self.start("--data", self.text, "--out", self.folder / "counted",
                                        "--log-every", 100000, "--resume", "none", "--steps", 5000,
                                        "--stop-at", steps, environment={**os.environ, **place}))
        for process in processes:
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        return int(counted.read_text())

    @unittest.skipIf(COUNTER.name == "none", "built with a sanitizer")
    def test_a_step_allocates_nothing(self):
        """Between two readings of the metrics, no thread of the process asks for memory: a run of
        200 steps more has the same count, up to a few of what does not come every step (a metric
        with more digits; a look into /proc for a peer that keeps one waiting)."""
        for ranks in (1, 2):
            few, many = (self.count_allocations(steps, ranks) for steps in (10, 210))
            self.assertLess(abs(many - few), 100)

    def test_profile(self):
        """--profile writes what Perfetto opens: spans by source line and operation, a file a rank,
        of as many steps as asked for, one after the other."""
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
            steps = [e for e in spans if e["name"] == "step"]
            for e in operations:
                self.assertTrue(any(s["ts"] <= e["ts"] and e["ts"] + e["dur"] <= s["ts"] + s["dur"] + 1
                                    for s in steps))
        plain, _ = self.train("plain")
        self.assertFalse((plain / "profile").exists())

    def test_tensorboard(self):
        """TensorBoard reads the events, under TorchTitan's names; steps that a resumed run repeats
        are there once."""
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("needs the packages of requirements-tests.txt")
        settings = ["--set", "checkpoint.every=10"]
        run, _ = self.train("run", *settings)
        shutil.rmtree(run / "checkpoints/step-40")
        self.train("run", *settings)
        events = EventAccumulator(str(run / "tensorboard"))
        events.Reload()
        self.assertLessEqual({"loss_metrics/global_avg_loss", "grad_norm", "throughput(tps)", "tflops",
                              "time_metrics/end_to_end(s)", "time_metrics/data_loading(s)",
                              "time_metrics/data_loading(%)", "memory/max_active(GiB)",
                              "memory/max_active(%)", "n_tokens_seen", "lr/AdamW"},
                             set(events.Tags()["scalars"]))
        read = events.Scalars("loss_metrics/global_avg_loss")
        self.assertEqual([e.step for e in read], list(range(1, 41)))
        for event, loss in zip(read, losses(run), strict=True):
            self.assertAlmostEqual(event.value, loss, places=5)

    def test_links_no_cuda(self):
        """The program itself needs no CUDA library; what LibTorch's own build brings along for its
        profiler does not count, the libraries that computations need would."""
        def needed(file):
            listed = subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout
            return re.findall(r"NEEDED.*\[(.*)\]", listed)
        cuda = re.compile("cuda|cublas|cudnn|nccl|cupti|nvrtc|cufft|cusparse")
        self.assertFalse([name for name in needed(EXE) if cuda.search(name)])
        loaded = subprocess.run(["ldd", EXE], capture_output=True, text=True).stdout
        self.assertIn("libtorch_cpu", loaded)
        for name in ("libtorch_cuda", "libc10_cuda", "libcublas", "libcudnn", "libnccl"):
            self.assertNotIn(name, loaded)

    def test_evaluation(self):
        """The loss on other data: the same number on any mesh, on the command line, during a run
        and after it; and training is not changed by it."""
        other = self.folder / "other"
        other.write_bytes(b"It was the best of times, it was the worst of times. " * 20)
        settings = ["--set", f"eval.data.path={other}", "--set", "eval.every=15"]
        found = []
        for ranks in (1, 2):
            run, _ = self.train(f"run{ranks}", *settings, ranks=ranks)
            rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
            evaluated = {row["step"]: row["eval_loss"] for row in rows if "eval_loss" in row}
            self.assertEqual(list(evaluated), [15, 30, 40])
            out, _ = self.run_exe("eval", "--data", other, "--init-from", run, ranks=ranks)
            self.assertIn(f"{(len(other.read_bytes()) - 1) // 32 // 4 * 4 * 32} tokens", out)
            found += [evaluated[40], float(out.split()[1])]
        for loss in found:
            self.assertLessEqual(abs(loss - found[0]), 1e-12 * loss)
        plain, _ = self.train("plain")
        self.assertEqual(losses(plain), losses(self.folder / "run1"))
        some, _ = self.run_exe("eval", "--data", other, "--init-from", plain, "--set",
                               "eval.batches=2")
        self.assertIn("256 tokens", some)
        for arguments, words in ((["--init-from", plain], "--data"), (["--data", other], "--init-from")):
            self.assertIn(words, self.run_exe("eval", *arguments, status=1)[1])
        other.write_bytes(b"too short for a batch of four samples")
        self.assertIn("holds 1 samples", self.run_exe("eval", "--data", other, "--init-from", plain,
                                                      status=1)[1])

    def test_export(self):
        """Exported weights are a directory of safetensors that is read like any other."""
        run, _ = self.train("run")
        for ranks in (1, 2):
            out, _ = self.run_exe("export", "--hf", f"hf{ranks}", "--init-from", run, ranks=ranks)
            self.assertIn("wrote 1 file", out)
            exported = self.folder / f"hf{ranks}"
            config = json.loads((exported / "config.json").read_text())
            self.assertEqual((config["vocab_size"], config["torch_dtype"]), (256, "float64"))
            index = json.loads((exported / "model.safetensors.index.json").read_text())
            self.assertEqual(set(index["weight_map"]), {"table", "layers.0.bias", "layers.1.bias"})
            again, _ = self.train(f"again{ranks}", "--init-from", exported, "--stop-at", 0)
            self.assertEqual((again / "model.safetensors").read_bytes(),
                             (run / "model.safetensors").read_bytes())
        self.assertIn("--hf", self.run_exe("export", "--init-from", run, status=1)[1])

    def test_settings(self):
        """The command line wins over TOML, that over the file; all of it is written down."""
        (self.folder / "c.toml").write_text("seed = 9\n[optimizer]\nlr = 0.5\n[schedule]\n"
                                            "decay = \"constant\"\n")
        run, _ = self.train("run", "--config", "c.toml", "--set", "optimizer.lr=0.25", "--steps", 3)
        toml = (run / "config.toml").read_text()
        for line in ("seed = 9", "optimizer.lr = 0.25", "schedule.decay = \"constant\"",
                     "steps = 3", "data.seq = 32 # fixed"):
            self.assertIn(line, toml)
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([row["lr"] for row in rows], [0.125, 0.25, 0.25])
        self.assertEqual(rows[2]["tokens"], 3 * 4 * 32)

    def test_mistakes(self):
        """Each mistake of a user has its exit status and a message that helps."""
        def err(*arguments, status, ranks=1):
            return self.run_exe(*arguments, status=status, ranks=ranks)[1]
        self.assertIn("--help", err("--nonsense", status=2))
        self.assertIn("--data", err("--steps", 1, status=1))
        self.assertIn("No such file", err("--data", "absent", status=1))
        self.assertIn("did you mean 'optimizer.lr'",
                      err("--set", "optimizer.lrr=1", "--data", self.text, status=1))
        self.assertIn("titanc build", err("--set", "data.seq=64", "--data", self.text, status=1))
        self.assertIn("PATH=VALUE", err("--set", "steps", "--data", self.text, status=2))
        self.assertIn("takes a number", err("--set", "steps=x", "--data", self.text, status=1))
        self.assertIn("--init-from", err("generate", "--prompt", "a", status=1))
        self.assertIn("no weights", err("generate", "--prompt", "a", "--init-from", self.folder,
                                        status=1))
        message = err("--data", self.text, "--dry-run", ranks=3, status=1)
        self.assertIn("batch = 4 cannot be split evenly by data = 3", message)

    def test_help_and_dry_run(self):
        """--help explains; --dry-run says what would run and writes nothing."""
        out, _ = self.run_exe("--help")
        for word in ("--resume", "generate", "PATH=VALUE"):
            self.assertIn(word, out)
        out, _ = self.run_exe("--data", self.text, "--out", "dry", "--dry-run")
        self.assertIn("66048 parameters", out)
        self.assertFalse((self.folder / "dry").exists())


unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
