"""Messages of a program whose ranks end, hang, crash or disagree."""

import json
import os
import re
import resource
import signal
import subprocess
import time

from program import EXE, ProgramCase, free_port, losses, main


class FaultsTest(ProgramCase):
    TORCHRUN = {"RANK": "{rank}", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "{rank}", "OMPI_COMM_WORLD_SIZE": "2",
                "OMPI_COMM_WORLD_LOCAL_RANK": "{rank}", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    SLURM = {"SLURM_PROCID": "{rank}", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "{rank}",
             "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NODEID": "0",
             "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_STEP_NODELIST": "localhost"}

    def start_ranks(self, out, *, variables, fate, environment=None):
        """Two ranks without a launcher, configured by its variables. In the fourth step one of them raises a
        signal: RANK:SIGNAL."""
        port, ranks = free_port(), []
        for rank in range(2):
            rank_variables = {name: value.format(rank=rank) for name, value in variables.items()}
            ranks.append(self.start("--data", self.text, "--out", out, "--log-every", 1,
                                    environment={**os.environ, **(environment or {}), **rank_variables,
                                                 "MASTER_PORT": port, "BIGRAM_FATE": fate}))
        return ranks

    def test_a_lost_rank_is_a_fault(self):
        """If a rank is killed, the other ends immediately with status 70. It names the rank, the action, the
        source line and the step, under any launcher's variables, and writes the same for torchrun."""
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
        """A hung rank ends the other after the timeout, over shared memory and over sockets."""
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
            self.assertRegex(err, r"error: rank 0: .*bigram.titan:9.*rank 1 did not come in time.*step 4")

    def test_a_rank_that_never_comes(self):
        """If the second of two ranks is missing, the first ends after TITAN_CONNECT_TIMEOUT, which must be a
        number."""
        for seconds, status, words in (("1", 70, "error: rank 0: the rendezvous at .* failed: rank 1 of 2 did not "
                                        "connect"),
                                       ("7", 70, "rank 0 of 2: waiting for the other processes at "),
                                       ("soon", 1, "TITAN_CONNECT_TIMEOUT is 'soon', expected a number"),
                                       ("9" * 20, 1, "TITAN_CONNECT_TIMEOUT is '9+', expected a number")):
            rank_variables = {name: value.format(rank=0) for name, value in self.TORCHRUN.items()}
            rank = self.start("--data", self.text, environment={
                **os.environ, **rank_variables, "MASTER_PORT": free_port(), "TITAN_CONNECT_TIMEOUT": seconds})
            _, err = rank.communicate(timeout=60)
            self.assertEqual(rank.returncode, status, err)
            self.assertRegex(err, words)

    def test_unknown_words_in_the_environment(self):
        """An unknown value of a variable is refused with the legal ones."""
        for variable, words in (("TITAN_BF16", "vectors or widen or native"), ("TITAN_F32", "blas"),
                                ("TITAN_ATTENTION", "flash or own"), ("TITAN_COMM", "shared or gloo")):
            rank = self.start("--data", self.text, environment={**os.environ, variable: "fast"})
            _, err = rank.communicate(timeout=60)
            self.assertEqual(rank.returncode, 1, err)
            self.assertRegex(err, f"{variable} is 'fast', expected {words}\n")

    def test_a_crash_names_its_place(self):
        """Fatal signals are reported with rank and source line."""
        errors = self.folder / "crash-0.json"
        own = {"TORCHELASTIC_ERROR_FILE": str(self.folder / "crash-{rank}.json")}
        ranks = self.start_ranks(self.folder / "crash", variables={**self.TORCHRUN, **own},
                                 fate=f"0:{signal.SIGSEGV}")
        _, err = ranks[0].communicate(timeout=60)
        ranks[1].communicate(timeout=60)
        self.assertEqual(ranks[0].returncode, -signal.SIGSEGV, err)
        self.assertRegex(err, r"error: rank 0: SIGSEGV .*\(bigram.titan:4\)")
        message = json.loads(errors.read_text())["message"]
        self.assertIn("SIGSEGV", message["message"])
        self.assertLess(abs(int(message["extraInfo"]["timestamp"]) - time.time()), 600)

    def test_a_full_disk(self):
        """A file that cannot grow ends the run with a fault that names the file; earlier checkpoints are
        intact."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12))
        run = self.folder / "run"
        process = subprocess.run([EXE, "--data", self.text, "--out", run, "--log-every", "1"],
                                 capture_output=True, text=True, timeout=60, preexec_fn=limit)
        self.assertEqual(process.returncode, 70, process.stderr)
        self.assertRegex(process.stderr, "error: cannot write '.*(jsonl|tfevents.*)': File too large; in "
                                         "step [0-9]+")
        self.assertEqual(json.loads((run / "status.json").read_text())["state"], "failed")
        self.assertGreater((run / "metrics.jsonl").stat().st_size, 1000)

    def test_a_checkpoint_that_is_too_large(self):
        """`ulimit -f` acts likewise, instead of SIGXFSZ."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))
        for mode in ("sync", "async"):
            run = self.folder / mode
            process = subprocess.run([EXE, "--data", self.text, "--out", run, "--set", "checkpoint.every=2",
                                      "--set", f"checkpoint.mode={mode}"],
                                     capture_output=True, text=True, timeout=60, preexec_fn=limit)
            self.assertEqual(process.returncode, 70, process.stderr)
            self.assertRegex(process.stderr,
                             r"error: .*step-2\.partial/.*safetensors.*File too large.*; in step \d")
            status = json.loads((run / "status.json").read_text())
            self.assertEqual((status["state"], status["exit_status"]), ("failed", 70))
            if mode == "sync":
                self.assertEqual(status["step"], 2)
            self.assertEqual([path.name for path in (run / "checkpoints").iterdir()], ["step-2.partial"])

    def test_an_error_completes_the_checkpoint(self):
        """A process that ends by an error completes the checkpoint that it saves in the background."""
        run = self.folder / "run"
        process = self.start("--data", self.text, "--out", run, "--set", "checkpoint.every=4", "--set",
                             "checkpoint.mode=async", environment={**os.environ, "BIGRAM_NAN": "5"})
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 76)
        self.assertEqual([path.name for path in (run / "checkpoints").iterdir()], ["step-4"])

    def test_replicas(self):
        """--check-replicas ends a run with differing replicas before it saves; without the option, the run
        continues."""
        settings = ["--data", self.text, "--set", "checkpoint.every=10", "--steps", 20]
        for drifting, status in (("-1", 0), ("1", 1)):
            out = self.folder / f"drifting-{drifting}"
            process = self.start("--check-replicas", "--out", out, *settings, ranks=2,
                                 environment={**os.environ, "BIGRAM_DRIFTING": drifting})
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, status, err)
            self.assertEqual("'m.count' differs between ranks 0 and 1" in err, status != 0, err)
            self.assertEqual((out / "checkpoints").exists(), status == 0)

    def test_a_slow_rank_is_named(self):
        """With the time of its steps and that of the others; a run of equal ranks says nothing."""
        for pause, is_slow in (("1000", False), ("40000", True)):
            port, ranks, out = free_port(), [], self.folder / f"pause-{pause}"
            for rank, each in enumerate(("1000", pause)):
                variables = {name: value.format(rank=rank) for name, value in self.TORCHRUN.items()}
                ranks.append(self.start("--data", self.text, "--out", out, "--log-every", 4, "--steps", 8,
                                        environment={**os.environ, **variables, "MASTER_PORT": port, "BIGRAM_STEP": each}))
            outputs = [rank.communicate(timeout=60) for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0, 0], outputs)
            found = re.search(r"note: rank 1 is slower than the others: in steps 1 to 8 it was busy for (\S+) s per step, the others for (\S+) s",
                              outputs[0][0])
            self.assertEqual(found is not None, is_slow, outputs[0][0])
            if found:
                self.assertGreater(float(found[1]), 0.04)
                self.assertLess(float(found[2]), 0.04)


main()
