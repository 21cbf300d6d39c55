"""Signals that ask a run to stop or to save at any moment, and ends without a signal."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from program import EXE, ProgramCase, free_port, losses, main

ENDING = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGXCPU", "SIGALRM", "SIGVTALRM",
          "SIGPROF", "SIGIO", "SIGPWR", "SIGSTKFLT"]


class SignalsTest(ProgramCase):
    def setUp(self):
        super().setUp()
        for name in ENDING:
            number = getattr(signal, name)
            if signal.getsignal(number) == signal.SIG_IGN:  # as a shell starts background processes
                signal.signal(number, signal.SIG_DFL)
                self.addCleanup(signal.signal, number, signal.SIG_IGN)

    def begin(self, name, *arguments, ranks=1, steps=100_000, environment=None):
        """The processes of a run, started without a launcher."""
        port = free_port()
        folder = self.folder / name
        processes = []
        for rank in range(ranks):
            variables = {} if ranks == 1 else {
                "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "localhost", "MASTER_PORT": port}
            processes.append(self.start("--data", self.text, "--out", folder, "--log-every", 1, "--steps",
                                        steps, *arguments,
                                        environment={**os.environ, **(environment or {}), **variables}))
        return folder, processes

    def wait_for(self, condition, processes, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "the condition stays false")
            for process in processes:
                if process.poll() is not None:
                    self.fail("ended early: " + "".join(process.communicate()))
            time.sleep(0.005)

    def wait_for_steps(self, folder, processes, steps=3):
        self.wait_for(lambda: (folder / "metrics.jsonl").exists() and len(losses(folder)) >= steps,
                      processes)

    def end(self, processes, status=75, seconds=30):
        """Waits until all processes end with this status; returns their output."""
        begun = time.monotonic()
        output = ""
        for process in processes:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, out + err)
            output += out + err
        self.assertLess(time.monotonic() - begun, seconds)
        return output

    def check_saved_once(self, folder, name="SIGTERM"):
        """The run has stopped by the signal with one checkpoint, whose step is returned."""
        status = json.loads((folder / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"]), ("stopped", 75))
        self.assertIn(name, status["message"])
        saved = [path.name for path in (folder / "checkpoints").iterdir()]
        self.assertEqual(saved, [f"step-{status['step']}"])
        return status["step"]

    def test_every_signal_that_would_end_it(self):
        """The run saves once and ends with 75, for every signal."""
        for name in ENDING:
            folder, processes = self.begin(name)
            self.wait_for_steps(folder, processes)
            processes[0].send_signal(getattr(signal, name))
            self.end(processes)
            self.check_saved_once(folder, "SIGPOLL" if name == "SIGIO" else name)

    def test_twice_to_all_ranks(self):
        """torchrun forwards its signal, so each rank receives two: the second belongs to the same request."""
        chance = random.Random(5)
        for trial in range(4):
            folder, processes = self.begin(f"twice-{trial}", ranks=2)
            self.wait_for_steps(folder, processes)
            for _ in range(2):
                for process in processes:
                    process.send_signal(signal.SIGTERM)
                time.sleep(chance.choice([0, 0.01, 0.3]) * chance.random())
            self.end(processes)
            step = self.check_saved_once(folder)
            self.assertEqual(len(losses(folder)), step)

    def test_in_its_start(self):
        """After a signal at any moment of its start, the run ends with 75."""
        chance = random.Random(6)
        for trial in range(6):
            folder, processes = self.begin(f"start-{trial}", ranks=1 + trial % 2,
                                           environment={"TITAN_STOP_TIMEOUT": "2"})
            time.sleep(chance.random() * 0.15)
            for process in processes:
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGTERM)
            for process in processes:
                out, err = process.communicate(timeout=60)
                # In its first instants the process has not executed the program yet.
                expected = (75,) if (folder / "status.json").exists() else (75, 70, -signal.SIGTERM)
                self.assertIn(process.returncode, expected, out + err)

    def test_before_its_first_step(self):
        """The initial state is saved before a step that may take long."""
        folder, processes = self.begin("slow", environment={"BIGRAM_STEP": "500000"})
        self.wait_for(lambda: (folder / "status.json").exists(), processes)
        processes[0].send_signal(signal.SIGTERM)
        self.end(processes, seconds=10)
        self.assertLessEqual(self.check_saved_once(folder), 1)

    def test_in_an_evaluation(self):
        """A signal ends a long evaluation after a batch, and the run does not report it."""
        long = self.folder / "long"
        long.write_bytes(self.text.read_bytes() * 40)
        for ranks in (1, 2):
            folder, processes = self.begin(
                f"evaluating-{ranks}", "--set", f"eval.data.path={long}", "--set", "eval.every=3", ranks=ranks,
                environment={"BIGRAM_EVAL": "100000"})
            self.wait_for_steps(folder, processes, 2)
            time.sleep(0.3)  # it evaluates after step 3
            processes[-1].send_signal(signal.SIGTERM)
            self.end(processes, seconds=10)
            self.assertEqual(self.check_saved_once(folder), 3)
            rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
            self.assertEqual([row["step"] for row in rows], [1, 2, 3])
            self.assertFalse(any("eval_loss" in row for row in rows))

    def test_while_it_saves(self):
        """A signal during or right after a save causes no second save, also in the background."""
        chance = random.Random(7)
        for trial in range(4):
            mode = ("sync", "async")[trial % 2]
            folder, processes = self.begin(f"saving-{trial}", "--set", "checkpoint.every=1", "--set",
                                           "checkpoint.keep=0", "--set", f"checkpoint.mode={mode}",
                                           environment={"BIGRAM_STEP": "200000"})
            self.wait_for(lambda: list(folder.glob("checkpoints/step-2*")), processes)
            time.sleep(chance.random() * 0.02)
            processes[0].send_signal(signal.SIGTERM)
            output = self.end(processes)
            step = int(re.search(r"stopped by SIGTERM after step (\d+)", output)[1])
            self.assertLessEqual(step, 3)
            self.assertEqual(sorted(path.name for path in (folder / "checkpoints").iterdir()),
                             [f"step-{n}" for n in range(1, step + 1)])

    def test_user_signal_saves_and_continues(self):
        """SIGUSR1 to all ranks saves one checkpoint, and the run continues with equal losses."""
        folder, processes = self.begin("saved", ranks=2, steps=400)
        self.wait_for_steps(folder, processes)
        for process in processes:
            process.send_signal(signal.SIGUSR1)
        output = self.end(processes, status=0)
        self.assertEqual(len(list((folder / "checkpoints").iterdir())), 1)
        self.assertRegex(output, r"saved step \d+, as SIGUSR1 asks")
        self.assertEqual(len(losses(folder)), 400)

    def test_a_later_one_ends_it_at_once(self):
        """A second SIGINT within two seconds counts as the same request; a later one ends the run at once."""
        folder, processes = self.begin("stuck", environment={"BIGRAM_STEP": "20000000"})
        self.wait_for(lambda: (folder / "status.json").exists(), processes)
        time.sleep(0.2)
        processes[0].send_signal(signal.SIGINT)
        time.sleep(0.3)
        processes[0].send_signal(signal.SIGINT)
        time.sleep(3)
        self.assertIsNone(processes[0].poll())
        processes[0].send_signal(signal.SIGINT)
        processes[0].communicate(timeout=10)
        self.assertEqual(processes[0].returncode, -signal.SIGINT)

    def test_a_step_that_hangs(self):
        """If a step does not end in TITAN_STOP_TIMEOUT after a signal, the run ends with an error."""
        folder, processes = self.begin("hung", environment={"BIGRAM_STEP": "60000000",
                                                             "TITAN_STOP_TIMEOUT": "1"})
        self.wait_for(lambda: (folder / "status.json").exists(), processes)
        time.sleep(0.2)
        processes[0].send_signal(signal.SIGTERM)
        output = self.end(processes, status=70, seconds=10)
        self.assertRegex(output, "error: rank 0: SIGTERM came [12] s ago and the step has not ended")
        status = json.loads((folder / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_status"], status["step"]), ("failed", 70, 0))
        for wrong in ("soon", "0", "-1"):
            _, err = self.start("--data", self.text, environment={
                **os.environ, "TITAN_STOP_TIMEOUT": wrong}).communicate(timeout=60)
            self.assertIn(f"TITAN_STOP_TIMEOUT is '{wrong}', expected a number", err)

    def test_a_start_that_hangs(self):
        """A rank that waits for another one during the start ends soon after a signal."""
        _, processes = self.begin("alone", ranks=2, environment={"TITAN_STOP_TIMEOUT": "1"})
        processes[1].send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        processes[0].send_signal(signal.SIGTERM)
        out, err = processes[0].communicate(timeout=20)
        processes[1].kill()
        processes[1].communicate()
        self.assertEqual(processes[0].returncode, 75, out + err)
        self.assertIn("stopped by SIGTERM while it started", err)

    def test_its_launcher_is_killed(self):
        """Ranks whose torchrun is killed save and end, unless TITAN_ORPHANS=keep."""
        for choice, ends in (("end", True), ("keep", False)):
            folder = self.folder / choice
            launcher = self.start("--data", self.text, "--out", folder, "--log-every", 1, "--steps", 2000,
                                  ranks=2, environment={**os.environ, "TITAN_ORPHANS": choice})
            self.wait_for_steps(folder, [launcher])
            launcher.kill()
            launcher.communicate(timeout=60)  # when the ranks' ends of its pipes are closed
            status = json.loads((folder / "status.json").read_text())
            self.assertEqual(status["state"], "stopped" if ends else "finished")
        _, err = self.start("--data", self.text, environment={
            **os.environ, "TITAN_ORPHANS": "adopt"}).communicate(timeout=60)
        self.assertIn("TITAN_ORPHANS is 'adopt', expected end or keep", err)

    def test_variables_by_hand_are_no_launcher(self):
        """Ranks started by a shell script continue when the shell ends."""
        code = ("import os, subprocess, sys; subprocess.Popen(sys.argv[1:], env={**os.environ, 'RANK': '0', "
                "'WORLD_SIZE': '1'})")
        subprocess.run([sys.executable, "-c", code, EXE, "--data", self.text, "--out", self.folder / "run",
                        "--steps", "300"], check=True, capture_output=True)
        status = json.loads((self.folder / "run/status.json").read_text())
        self.assertEqual(status["state"], "finished")

    def test_closed_standard_streams(self):
        """Output is discarded instead of written into the first opened files."""
        for closed in ((1, 2), (0, 1, 2), (0,), (2,)):
            run = self.folder / "".join(map(str, closed))
            subprocess.run([EXE, "--data", self.text, "--out", run, "--log-every", "1", "--steps", "5"],
                           preexec_fn=lambda: [os.close(stream) for stream in closed], timeout=60,
                           check=True)
            self.assertEqual(len(losses(run)), 5)
            for path in run.rglob("*"):
                if path.is_file():
                    self.assertNotIn(b"step 1/5", path.read_bytes(), path)

    def test_status(self):
        """status.json names the process, so that the next run reports that it was killed."""
        folder, processes = self.begin("run", "--set", "checkpoint.every=2")
        self.wait_for_steps(folder, processes)
        status = json.loads((folder / "status.json").read_text())
        self.assertEqual((status["state"], status["pid"], status["host"]),
                         ("running", processes[0].pid, os.uname().nodename))
        self.assertLess(abs(status["started"] - time.time()), 600)
        processes[0].kill()
        processes[0].communicate()
        _, output = self.train("run", "--steps", 5, "--resume", "none")
        self.assertRegex(output, fr"note: the previous run ended abruptly after step \d+ \(process "
                               fr"{processes[0].pid} on .*, last seen 20..-..-.. ")
        _, output = self.train("run", "--steps", 5, "--resume", "none")
        self.assertNotIn("abruptly", output)


main()
