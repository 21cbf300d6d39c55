"""Checkpoints and resumption: after a stop, at intervals, from other weights."""

import json
import os
import re
import shutil
import signal
import time

from program import ProgramCase, free_port, losses, main


class ResumeTest(ProgramCase):
    def begin(self, name, *arguments, **options):
        """Starts a run of 300 steps and returns its process after three of them."""
        folder = self.folder / name
        process = self.start("--data", self.text, "--out", folder, "--log-every", 1, "--steps", 300,
                             *arguments, **options)
        while not (folder / "metrics.jsonl").exists() or len(losses(folder)) < 3:
            time.sleep(0.01)
        return process

    def test_stopped_and_resumed(self):
        """SIGTERM saves and exits with 75. The same command resumes and ends bitwise equal to an
        uninterrupted run, with no missing or repeated step in the metrics."""
        whole, _ = self.train("whole", "--steps", 300)
        process = self.begin("cut")
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
        """torchrun forwards SIGTERM; both ranks stop after the same step, and one rank resumes."""
        whole, _ = self.train("whole", "--steps", 300)
        cut = self.folder / "cut"
        process = self.begin("cut", ranks=2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        status = json.loads((cut / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"]), ("stopped", 75))
        self.train("cut", "--steps", 300)
        self.assertEqual(len(losses(cut)), 300)
        for a, b in zip(losses(cut), losses(whole)):
            self.assertLessEqual(abs(a - b), 1e-11 * abs(b))

    def test_one_rank_is_told_to_stop(self):
        """A signal to one rank stops all of them."""
        environment = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "localhost",
                       "MASTER_PORT": free_port(), "LOCAL_WORLD_SIZE": "2"}
        ranks = [self.start("--data", self.text, "--out", "cut", "--log-every", 1, "--steps", 100_000,
                            environment={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                 for rank in (0, 1)]
        cut = self.folder / "cut"
        while not (cut / "metrics.jsonl").exists() or len(losses(cut)) < 3:
            time.sleep(0.01)
        ranks[1].send_signal(signal.SIGTERM)
        for rank in ranks:
            out, err = rank.communicate(timeout=60)
            self.assertEqual(rank.returncode, 75, out + err)
        status = json.loads((cut / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"]), ("stopped", 75))
        self.assertIn("SIGTERM", status["message"])

    def test_one_run_in_a_directory(self):
        """A second run does not touch the directory of a running one; a killed run releases it."""
        first = self.start("--data", self.text, "--out", "run", "--log-every", 1, "--steps", 10_000_000)
        for line in first.stdout:
            if line.startswith("step "):
                break
        for ranks in (1, 2):
            _, err = self.run_exe("--data", self.text, "--out", "run", "--resume", "none", ranks=ranks,
                                  status=1)
            self.assertRegex(err, fr"another run writes to 'run' \(process {first.pid} on .*\): pass "
                                  "another --out")
        first.kill()
        first.communicate()
        self.train("run", "--resume", "none", "--steps", 2)

    def test_a_closed_terminal(self):
        """A run whose terminal closes saves and stops; one started by nohup continues."""
        process = self.begin("cut")
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, out + err)
        self.assertIn("stopped by SIGHUP", out)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a child inherits it
        self.addCleanup(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        process = self.begin("whole")
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)

    def test_a_closed_pipe(self):
        """A run whose output goes to a closed pipe continues without output."""
        process = self.begin("alone")
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(len(losses(self.folder / "alone")), 300)

    def test_checkpoints_and_retention(self):
        """Checkpoints are written at their interval and at the end, and the latest are kept. A restarted run
        continues from the last one, also on another mesh, and drops later rows."""
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

    def test_beside_the_steps(self):
        """Checkpoints in the background have the bytes of synchronous ones, and so do resumed runs."""
        settings = ["--set", "checkpoint.every=10", "--set", "checkpoint.keep=1", "--set",
                    "checkpoint.keep_every=20"]
        background = ["--set", "checkpoint.mode=async"]
        for ranks in (1, 2):
            whole, _ = self.train(f"whole{ranks}", *settings, "--steps", 45, ranks=ranks)
            run, text = self.train(f"run{ranks}", *settings, *background, "--steps", 45,
                                   "--stop-at", 35, ranks=ranks)
            self.assertIn("finished after step 35", text)
            _, text = self.train(f"run{ranks}", *settings, *background, "--steps", 45, ranks=ranks)
            self.assertIn("resuming after step 35", text)
            self.assertEqual({path.name for path in (run / "checkpoints").iterdir()},
                             {"step-20", "step-40", "step-45"})
            for path in [*whole.glob("checkpoints/step-20/*.safetensors"), *whole.glob("*.safetensors")]:
                self.assertEqual((run / path.relative_to(whole)).read_bytes(), path.read_bytes(), path)

    def test_the_next_waits(self):
        """A checkpoint that becomes due while another is written waits for it; none is left out."""
        run, text = self.train("run", "--set", "checkpoint.every=1", "--set", "checkpoint.mode=async",
                               "--steps", 6, ranks=2)
        self.assertEqual(len(list((run / "checkpoints").iterdir())), 6)
        self.assertEqual(text.count("note: the checkpoint of step 2 waited"), 1)
        self.assertEqual(text.count(" waited "), 1)

    def test_starting_over(self):
        """Leftovers of a previous run neither displace checkpoints of a new one nor are resumed later."""
        settings = ["--set", "checkpoint.every=10", "--set", "checkpoint.keep=2"]
        self.train("run", *settings, "--steps", 40)
        (self.folder / "run/checkpoints/step-50.partial").mkdir() # left by a full disk
        self.train("run", *settings, "--steps", 40)
        self.assertFalse((self.folder / "run/checkpoints/step-50.partial").exists())
        run, text = self.train("run", *settings, "--steps", 40, "--stop-at", 10, "--resume", "none")
        self.assertNotIn("resuming", text)
        self.assertIn("note: starting over; weights and checkpoints of the previous run are in ", text)
        self.assertEqual(sorted(path.name for path in (run / "replaced/checkpoints").iterdir()),
                         ["step-30", "step-40"])
        self.assertEqual([path.name for path in (run / "checkpoints").iterdir()], ["step-10"])
        _, text = self.train("run", *settings, "--steps", 40)
        self.assertIn("resuming after step 10", text)
        # A run that ends before its first save leaves nothing of the previous run that could be taken for its own.
        (run / "metrics.jsonl").unlink() # reveals that the next one has started
        process = self.begin("run", "--set", "checkpoint.every=0", "--resume", "none")
        process.kill()
        process.communicate(timeout=60)
        _, text = self.train("run", *settings, "--steps", 10)
        self.assertNotIn("resuming", text)

    def test_the_latest_weights(self):
        """If a finished run continues and is stopped, its old final weights are removed, so that they do not
        count as its latest weights."""
        run, _ = self.train("run", "--steps", 5, "--set", "checkpoint.every=5")
        (run / "metrics.jsonl").unlink() # reveals that it continues
        process = self.begin("run", "--set", "checkpoint.every=5")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, out + err)
        self.assertFalse((run / "model.safetensors").exists())
        self.run_exe("generate", "--init-from", run, "--prompt", "In", "--max-tokens", 1)

    def test_damaged_checkpoints(self):
        """A checkpoint with a changed bit, a truncated or missing file, or a damaged manifest is refused with
        the file's name if it is requested explicitly; `--resume auto` uses the previous checkpoint."""
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
        _, text = self.train("missing", *settings, status=1)
        self.assertRegex(text, "error: .*step-10/.*; no checkpoint of '.*missing' can be used: start "
                               "over with --resume none")
        self.assertTrue((missing / "checkpoints/step-30").exists())
        self.train("missing", *settings, "--resume", "none")
        self.assertEqual(losses(missing), losses(whole))

    def test_a_checkpoint_that_cannot_be_read(self):
        """All ranks skip a checkpoint with a shard that is a folder or unreadable; skipped checkpoints are
        archived."""
        settings = ["--set", "checkpoint.every=10", "--steps", 30]
        whole, _ = self.train("whole", *settings)
        state = whole / "checkpoints/step-30/optimizer-00001-of-00001.safetensors"
        state.unlink()
        state.symlink_to("/proc/self/mem")
        run, text = self.train("whole", *settings, ranks=2)
        self.assertRegex(text, f"warning: {state} cannot be read: Input/output error; trying")
        self.assertIn("resuming after step 20", text)
        self.assertTrue((run / "replaced/step-30/checkpoint.json").exists())
        self.assertEqual(len(losses(run)), 30)

    def test_a_checkpoint_of_another_model(self):
        """A checkpoint of another model whose tensors fit is accepted only on explicit request."""
        run, _ = self.train("run", "--set", "checkpoint.every=5", "--steps", 10)
        other = {**os.environ, "BIGRAM_MODEL": "another"}
        step = run / "checkpoints/step-10"
        for asked, status in ([], 1), (["--resume", step], 0):
            process = self.start("--data", self.text, "--out", run, "--steps", 12, *asked, environment=other)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, out + err)
            self.assertIn("by a different model", out + err)

    def test_lost_checkpoints(self):
        """If there are metrics of steps after the first checkpoint, but no checkpoints, a run does not silently
        start over."""
        settings = ["--set", "checkpoint.every=10", "--steps", 20]
        run, _ = self.train("run", *settings)
        shutil.rmtree(run / "checkpoints")
        weights = (run / "model.safetensors").read_bytes()
        _, text = self.train("run", *settings, status=1)
        self.assertRegex(text, "rows up to step 20 of a run that saved a checkpoint every 10 steps, but .* "
                               "has none: .*--resume none")
        self.assertEqual((run / "model.safetensors").read_bytes(), weights)
        self.train("run", *settings, "--resume", "none")
        self.assertEqual((run / "replaced/model.safetensors").read_bytes(), weights)
        self.assertEqual(len(losses(run / "replaced")), 20)

    def test_lost_checkpoints_of_asynchronous_saves(self):
        """A power cut can leave the rows of two intervals and no checkpoint: the first is complete only before the
        second begins. Later rows are evidence of a loss."""
        settings = ["--set", "checkpoint.every=5", "--set", "checkpoint.mode=async"]
        for steps, status in (10, 0), (11, 1):
            run, _ = self.train(f"run-{steps}", *settings, "--steps", steps)
            shutil.rmtree(run / "checkpoints")
            _, text = self.train(f"run-{steps}", *settings, "--steps", steps, status=status)
            self.assertEqual(f"rows up to step {steps} of a run" in text, status == 1, text)

    def test_weights_of_a_finished_run(self):
        """status.json has the checksum of the final weights, which reveals damage."""
        run, _ = self.train("run", "--steps", 3)
        model = run / "model.safetensors"
        status = json.loads((run / "status.json").read_text())["weights"]
        self.assertEqual((status["file"], status["bytes"]), (model.name, model.stat().st_size))
        model.write_bytes(model.read_bytes()[:-1] + b"x")
        for path in (run, model):
            _, err = self.run_exe("generate", "--init-from", path, "--prompt", "In", status=1)
            self.assertRegex(err, f"{model} is damaged: its checksum is")

    def test_weights_of_a_damaged_checkpoint(self):
        """--init-from refuses a checkpoint with damaged parameters and ignores optimizer state."""
        run, _ = self.train("once", "--steps", 4, "--set", "checkpoint.every=4")
        step = run / "checkpoints" / "step-4"
        state = next(step.glob("optimizer-*.safetensors"))
        state.write_bytes(state.read_bytes()[:-1] + b"x")
        self.run_exe("eval", "--data", self.text, "--init-from", step)
        model = next(step.glob("model-*.safetensors"))
        model.write_bytes(model.read_bytes()[:-1] + b"x")
        (run / "model.safetensors").unlink()
        for path in (step, run, model):
            for command in ("eval", "export", "generate"):
                given = {"eval": ("--data", self.text), "export": ("--hf", self.folder / "file"),
                         "generate": ("--prompt", "a")}[command]
                _, err = self.run_exe(command, *given, "--init-from", path, status=1)
                self.assertIn(f"{model} is damaged: its checksum is", err)
            err = self.train(f"of-{path.name}", "--init-from", path, ranks=2, status=1)[1]
            self.assertEqual(len(re.findall("^error: .* is damaged", err, re.M)), 1, err)

    def test_weights_of_a_stopped_run(self):
        """generate and --init-from accept the directory of an unfinished run."""
        run, _ = self.train("run", "--set", "checkpoint.every=100", "--steps", 200)
        (run / "model.safetensors").unlink()
        out, _ = self.run_exe("generate", "--init-from", run, "--prompt", "In th", "--max-tokens", 20)
        self.assertTrue(out.startswith("In the "), out)

    def test_a_checkpoint_wins_over_weights(self):
        """If --init-from is passed again, the run resumes its checkpoint and reports that it ignores the other
        weights."""
        other, _ = self.train("other", "--steps", 2)
        settings = ["--init-from", other, "--set", "checkpoint.every=5", "--steps", 10]
        _, text = self.train("run", *settings, "--stop-at", 5)
        self.assertNotIn("note:", text)
        _, text = self.train("run", *settings)
        self.assertIn("resuming after step 5", text)
        self.assertIn("note: the weights come from the checkpoint, not from --init-from", text)

    def test_stop_at_keeps_the_schedule(self):
        """--stop-at ends early on the same schedule; --steps changes the schedule; --stop-at 0 saves the initial
        state."""
        whole, _ = self.train("whole")
        part, _ = self.train("part", "--stop-at", 5)
        self.assertEqual(losses(part), losses(whole)[:5])
        _, text = self.train("part")
        self.assertIn("resuming after step 5", text)
        self.assertEqual(losses(part), losses(whole))
        _, text = self.train("part", "--stop-at", 3)
        self.assertIn("note: the checkpoint is of step 5, so no steps are left until step 3", text)
        _, text = self.train("whole")
        self.assertIn("note: starting over; weights and checkpoints of the previous run are in ", text)
        short, text = self.train("short", "--steps", 5)
        self.assertNotIn("note:", text)
        self.assertNotEqual(losses(short), losses(whole)[:5])
        start, _ = self.train("start", "--stop-at", 0, "--save-initial", "initial")
        self.assertEqual((start / "model.safetensors").read_bytes(),
                         (self.folder / "initial").read_bytes())

    def test_init_from_and_generate(self):
        """Weights are read back, from a run or a file; generation reflects the training."""
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
        best, _ = self.run_exe("generate", "--init-from", run, "--prompt", "In th", "--max-tokens", 20,
                               "--temperature", 5, "--top-k", 1, "--seed", 1)
        self.assertEqual(best, out)


main()
