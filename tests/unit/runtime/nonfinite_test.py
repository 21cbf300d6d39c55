"""The reaction of a run to a loss that is not finite, and its effect on earlier checkpoints."""

import json
import os

from program import ProgramCase, losses, main


class NonFiniteTest(ProgramCase):
    def run_nan(self, name, nan, *arguments, ranks=1, status=0, steps=20, every=4, **variables):
        """A run whose loss is NaN in the steps that `nan` gives as BIGRAM_NAN, with a checkpoint every
        `every` steps."""
        process = self.start("--data", self.text, "--out", self.folder / name, "--log-every", 1000,
                             "--steps", steps, "--set", f"checkpoint.every={every}", "--set",
                             "checkpoint.keep=2", *arguments, ranks=ranks,
                             environment={**os.environ, "BIGRAM_NAN": nan, **variables})
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return self.folder / name, out + err

    def checkpoints(self, run):
        """The steps of the run's checkpoints, negated where the loss is not finite."""
        found = []
        for path in (run / "checkpoints").iterdir():
            manifest = json.loads((path / "checkpoint.json").read_text())
            found.append(manifest["step"] if manifest["finite"] else -manifest["step"])
        return sorted(found, key=abs)

    def test_stops(self):
        """By default the run ends at that step with its own status, and keeps good checkpoints; also with
        two ranks."""
        for ranks in (1, 2):
            run, output = self.run_nan(f"run-{ranks}", "14", ranks=ranks, status=76 if ranks == 1 else 1)
            self.assertIn("error: step 14: the loss is nan (`nll` nan) and the gradient's norm 0", output)
            self.assertIn("checkpoints/step-12' is good", output)
            launcher = f"--nproc {ranks} " if ranks > 1 else ""
            self.assertIn(f"`titanc run {launcher}{run}/program.titan --train bigram --config {run}/config.toml --set check_numbers=true "
                          f"-- --out {run}` names the operation", output)
            status = json.loads((run / "status.json").read_text())
            self.assertEqual((status["state"], status["step"], status["exit_status"]),
                             ("nonfinite", 14, 76))
            self.assertEqual(self.checkpoints(run), [8, 12])
            self.assertFalse((run / "model.safetensors").exists())
            rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
            self.assertEqual((rows[-1]["step"], rows[-1]["loss"]), (14, None))
        _, output = self.train("run-1", "--steps", 20)
        self.assertIn("resuming after step 12", output)

    def test_the_first_step(self):
        """No learning rate matters to it, so the message names the data and the weights; also after a resumption."""
        _, output = self.run_nan("first", "1", status=76)
        self.assertIn("no update of this run came before, so look for numbers that are not finite in the data", output)
        self.assertNotIn("optimizer.lr", output)
        _, output = self.run_nan("second", "2", status=76)
        self.assertIn("resume with a lower `optimizer.lr`", output)
        self.run_nan("third", "5", status=76)
        _, output = self.run_nan("third", "5", status=76)
        self.assertIn("resuming after step 4", output)
        self.assertIn("no update of this run came before", output)

    def test_a_step_that_would_be_saved(self):
        """It is not saved."""
        run, _ = self.run_nan("run", "16", status=76)
        self.assertEqual(self.checkpoints(run), [8, 12])

    def test_warns(self):
        """The run continues; its checkpoints displace no good one, and --resume auto skips them."""
        run, output = self.run_nan("run", "10", "--set", "on_nonfinite=warn")
        self.assertEqual(output.count("warning: step 10: the loss is nan"), 1)
        self.assertEqual(self.checkpoints(run), [4, 8, -16, -20])
        out, output = self.train("run", "--steps", 20, "--resume", run / "checkpoints/step-16")
        self.assertIn("resuming after step 16", output)
        run, _ = self.run_nan("again", "10", "--set", "on_nonfinite=warn")
        _, output = self.train("again", "--steps", 20)
        for step in (20, 16):
            self.assertRegex(output, f"warning: .*step-{step} is of a step whose loss or gradient is not finite")
        self.assertIn("resuming after step 8", output)

    def test_skips_that_do_not_end(self):
        """A hundred non-finite steps in a row end the run, which saves the last finite state; 99 steps do not."""
        _, output = self.run_nan("some", "14:112", steps=130, every=100, BIGRAM_SKIPS="1")
        self.assertEqual(output.count("so its update is skipped"), 10)
        for ranks in (1, 2):
            run, output = self.run_nan(f"all-{ranks}", "14", steps=130, every=12, ranks=ranks,
                                     BIGRAM_SKIPS="1", status=76 if ranks == 1 else 1)
            self.assertIn("error: step 113: the loss is nan (`nll` nan) and the gradient's norm 0", output)
            self.assertIn("as in all of the last 100 steps, whose updates were skipped", output)
            self.assertIn("checkpoints/step-12' is good", output)
            status = json.loads((run / "status.json").read_text())
            self.assertEqual((status["state"], status["step"], status["exit_status"]),
                             ("nonfinite", 113, 76))

    def test_a_choice_that_is_compiled_in(self):
        """A program compiled without skipping prints the command that rebuilds it."""
        _, output = self.run_nan("run", "10", "--set", "on_nonfinite=skip", status=1)
        self.assertIn("`on_nonfinite` cannot be skip [T0503]", output)
        self.assertIn("rebuild to change it: `titanc build FILE.titan --set on_nonfinite=skip`", output)

    def test_nothing_good_is_left(self):
        """--resume auto does not restart silently; an explicit folder is accepted."""
        run, _ = self.run_nan("run", "1", "--set", "on_nonfinite=warn")
        _, output = self.train("run", "--steps", 24, status=1)
        self.assertIn("can be used: start over with --resume none", output)
        _, output = self.train("run", "--steps", 24, "--resume", run / "checkpoints/step-20")
        self.assertIn("resuming after step 20", output)

    def test_a_schedule_that_is_moved(self):
        """A resumed run reports it."""
        run, _ = self.train("run", "--steps", 10, "--set", "checkpoint.every=5")
        _, output = self.train("run", "--steps", 20)
        self.assertRegex(output, "note: the schedule ends at step 20, but ended at 10 when the checkpoint was")
        self.assertRegex(output, "warning: the schedule had ended at the learning rate [0-9.e-]+, which jumps back to "
                         f"[0-9.e-]+ in step 11; for a new schedule .*: --init-from .*run --out ANOTHER")
        run, _ = self.train("part", "--steps", 20, "--stop-at", 10)
        _, output = self.train("part", "--steps", 16)
        self.assertNotIn("jumps back", output)
        self.assertRegex(output, r"; the learning rate of step 11 is 1\.94 instead of 2\.4")
        _, output = self.train("part", "--steps", 16, "--resume", run / "checkpoints/step-10", "--set",
                             "schedule.decay=constant")
        self.assertNotIn("the schedule ends", output)


main()
