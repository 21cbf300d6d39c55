"""Runs a program that links the runtime, as a user would: the command line, the run's directory, several
processes, evaluation, export, and user errors."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

from program import EXE, ProgramCase, losses, main


class ProgramTest(ProgramCase):
    def test_one_and_two_ranks_agree(self):
        """Two processes start with the bits of one, and their losses differ by less than 1e-12."""
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

    def test_memory_before_exec(self):
        """Memory of the process before exec does not count as the program's."""
        launcher = ("import os, sys; held = bytearray(1 << 29); "
                    "held[::4096] = b'1' * (1 << 17); os.execv(sys.argv[1], sys.argv[1:])")
        out = subprocess.run([sys.executable, "-c", launcher, EXE, "--data", self.text, "--out",
                              self.folder / "run", "--steps", "2", "--log-every", "1"],
                             capture_output=True, text=True, check=True).stdout
        held = [float(number) for number in re.findall(r"  (\d+) MiB", out)]
        self.assertEqual(len(held), 2, out)
        self.assertLess(max(held), 400)

    def test_links_neither_cuda_nor_libtorch(self):
        """A program needs no CUDA library, and LibTorch only at run time, if at all."""
        listed = subprocess.run(["ldd", EXE], capture_output=True, text=True).stdout
        names = [os.path.basename(line.split()[0]) for line in listed.splitlines()]
        self.assertTrue([name for name in names if "stdc++" in name])
        wrong = re.compile("cuda|cublas|cudnn|nccl|cupti|nvrtc|cufft|cusparse|torch|c10")
        self.assertFalse([name for name in names if wrong.search(name)])

    def test_loads_libtorch_where_it_is_used(self):
        """A single process without GEMM never loads LibTorch; several do, and report errors of LibTorch or
        of the c10d module."""
        stale = EXE.parent / "stale"
        for name in ("libtorch_cpu.so", "libtitan_c10d.so"):
            folder = self.folder / name
            folder.mkdir()
            (folder / name).touch()
        arguments = ["--data", self.text, "--steps", 2, "--out"]
        several = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": "1"}
        for folder, words in ((self.folder / "libtorch_cpu.so", "cannot load libtorch_cpu.so, which "
                               "connects processes here: .*LD_LIBRARY_PATH"),
                              (self.folder / "libtitan_c10d.so", "cannot load libtitan_c10d.so"),
                              (stale, "libtitan_c10d.so belongs to another build")):
            environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
            process = self.start(*arguments, f"one-{folder.name}", environment=environment)
            self.assertEqual((process.communicate(timeout=60)[1], process.returncode), ("", 0))
            process = self.start(*arguments, "two", environment={**environment, **several})
            self.assertRegex(process.communicate(timeout=60)[1], f"error: rank 0: {words}")
            self.assertEqual(process.returncode, 70)

    def test_evaluation(self):
        """The loss on held-out data is equal on any mesh, on the command line, during a run and after it,
        and does not affect training."""
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
        samples = (len(other.read_bytes()) - 1) // 32
        self.assertIn(f"8 of {samples} samples, 256 tokens", some)
        for arguments, words in ((["--init-from", plain], "--data"), (["--data", other], "--init-from")):
            self.assertIn(words, self.run_exe("eval", *arguments, status=1)[1])
        other.write_bytes(b"too short for a batch of four samples")
        short = self.run_exe("eval", "--data", other, "--init-from", plain, status=1)[1]
        self.assertIn("holds 1 samples, and an evaluation of this model reads full batches of 4", short)
        self.assertIn("--set data.batch=1", short)

    def test_evaluation_sets(self):
        """Each of several sets has the numbers of an evaluation of this set alone: in a run's rows, in the
        table and as JSON."""
        other = self.folder / "other"
        other.write_bytes(b"It was the best of times, it was the worst of times. " * 20)
        sets = ["--eval-data", f"web={self.text}", "--eval-data", f"old-times={other}"]
        for ranks in (1, 2):
            run, output = self.train(f"run{ranks}", *sets, "--set", "eval.every=20", ranks=ranks)
            rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
            evaluated = {row["step"]: row["eval_sets"] for row in rows if "eval_sets" in row}
            self.assertEqual(list(evaluated), [20, 40])
            self.assertFalse(any("eval_loss" in row for row in rows))
            self.assertIn("step 40  evaluation old-times: loss ", output)
            out, _ = self.run_exe("eval", *sets, "--init-from", run, "--json", ranks=ranks)
            found = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([one["set"] for one in found], ["web", "old-times"])
            for one, path in zip(found, (self.text, other)):
                for key in ("loss", "perplexity", "losses"):
                    self.assertEqual(one[key], evaluated[40][one["set"]][key])
                alone, _ = self.run_exe("eval", "--data", path, "--init-from", run, "--json", ranks=ranks)
                alone = json.loads(alone)
                self.assertEqual({**one, "seconds": 0}, {"set": one["set"], **alone, "seconds": 0})
        out, _ = self.run_exe("eval", *sets, "--init-from", run)
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["set", "web", "old-times"])
        text = (run / "config.toml").read_text()
        self.assertIn(f'eval.data.path = "web={self.text} old-times={other}"', text)

    def test_wrong_evaluation_sets(self):
        """The message names the mistake and the right form, before any step."""
        run, _ = self.train("run", "--steps", 1)
        for sets, words, status in (
                (["a=x", "a=x"], "two sets have the name `a`", 1),
                (["a=", "b=x"], "`a` has no path", 1),
                (["a.b=x"], "the name `a.b` has characters other than letters, digits, `_` and `-`", 1),
                (["a=x", "x"], "several sets need names, NAME=PATH", 2),
                (["a=x y", "b=x"], "paths of several sets cannot have spaces", 2),
                ([f"a={self.text}", "b=absent"], "cannot open 'absent'|'absent'.*No such file", 1),
                (["1 x 2 y"], "is a mixture, but an evaluation reads every sample once: name the sets instead, "
                              "as in \"web=x code=y\"", 1)):
            arguments = [word for one in sets for word in ("--eval-data", one)]
            output = self.run_exe("eval", *arguments, "--init-from", run, status=status)[1]
            self.assertRegex(output.replace("\n", " "), words if "|" in words else re.escape(words))
        output = self.run_exe("--data", f"web={self.text}", status=1)[1]
        self.assertIn("names an evaluation set, but these are training data", output)
        output = self.run_exe("--data", self.text, "--eval-data", self.text, status=2)[1]
        self.assertIn("--eval-data has no effect on a run that never evaluates", output)
        output = self.run_exe("--data", self.text, "--init-from", "teacher=", status=2)[1]
        self.assertIn("--init-from 'teacher=' names no file or directory", output)
        output = self.run_exe("generate", "--eval-data", "x", "--init-from", run, status=2)[1]
        self.assertIn("--eval-data has no effect on `generate`", output)

    def test_incomplete_mixtures(self):
        """The message for a malformed mixture shows the right form."""
        for data, words in ((f"0.7 {self.text} 0.3", "the weight `0.3` has no path: a mixture has a weight before each "
                             "path"),
                            (f"1e-12 {self.text} 1 {self.text}", "no sample would come from it"),
                            (f"1 {self.text}", "is its only set, and needs no weight"),
                            (f"nan {self.text}", "must be a positive, finite number"),
                            (f"0 {self.text} 1 {self.text}", f"the weight `0` of `{self.text}` must be a positive, "
                             "finite number"),
                            (f"0.7 {self.text} 0.3 {self.text} 1", "the weight `1` has no path"),
                            (f"0.7 {self.text} {self.text} 1", f"`{self.text}` is not a weight")):
            self.assertIn(words, self.run_exe("--data", data, status=1)[1])

    def test_export(self):
        """Exported weights are a directory of safetensors that can be read back."""
        run, _ = self.train("run")
        for ranks in (1, 2):
            out, _ = self.run_exe("export", "--hf", f"hf{ranks}", "--init-from", run, ranks=ranks)
            self.assertIn("wrote 1 file", out)
            exported = self.folder / f"hf{ranks}"
            config = json.loads((exported / "config.json").read_text())
            self.assertEqual((config["vocab_size"], config["torch_dtype"]), (256, "float64"))
            self.assertEqual(sorted(file.name for file in exported.iterdir()),
                             ["config.json", "model.safetensors", "program.titan"])
            again, _ = self.train(f"again{ranks}", "--init-from", exported, "--stop-at", 0)
            self.assertEqual((again / "model.safetensors").read_bytes(),
                             (run / "model.safetensors").read_bytes())
        out, _ = self.run_exe("export", "--hf", "hf1", "--init-from", run, "--dtype", "f16")  # replaces the earlier one
        self.assertIn("wrote 1 file of weights in f16", out)
        self.assertEqual(json.loads((self.folder / "hf1/config.json").read_text())["torch_dtype"], "float16")
        _, err = self.run_exe("export", "--hf", "hf3", "--init-from", run, "--set", "data.format=indexed")
        self.assertIn("note: the export has no tokenizer, because --init-from has none", err)
        self.assertIn("note: config.json has the model type 'titan', which transformers does not load", err)
        self.assertIn("--hf", self.run_exe("export", "--init-from", run, status=1)[1])
        before = (run / "model.safetensors").read_bytes()
        shutil.copytree(run, self.folder / "other")
        (self.folder / "other/status.json").unlink()
        for directory, words in ((run, "is the directory of --init-from"),
                                 ("other", "has weights that are not of an export: 'model.safetensors'")):
            self.assertIn(words, self.run_exe("export", "--init-from", run, "--hf", directory, status=1)[1])
        self.assertEqual((self.folder / "other/model.safetensors").read_bytes(), before)
        self.assertIn("error: cannot make the directory of an export",
                      self.run_exe("export", "--init-from", run, "--hf", self.text, status=1)[1])

    def test_settings(self):
        """The command line overrides TOML, which overrides the file; all settings are written."""
        (self.folder / "c.toml").write_text("seed = 9\n[optimizer]\nlr = 0.5\n[schedule]\n"
                                            "decay = \"constant\"\n")
        run, _ = self.train("run", "--config", "c.toml", "--set", "optimizer.lr=0.25", "--steps", 3)
        toml = (run / "config.toml").read_text()
        for line in ("seed = 9", "optimizer.lr = 0.25", "schedule.decay = \"constant\"",
                     "steps = 3", "data.seq = 32 # fixed"):
            self.assertIn(line, toml)
        self.assertIn(f"data.path = \"{self.text}\"", toml)
        (self.folder / "deep").mkdir()
        # The path of the data does not depend on the directory that the settings are read from.
        self.run_exe("--data", "text", "--steps", 3, "--out", "deep/run")
        self.run_exe("--config", "deep/run/config.toml", "--out", "deep/again")
        again, _ = self.run_exe("--config", run / "config.toml", "--out", "again")
        self.assertIn("finished after step 3", again)
        self.assertEqual((self.folder / "again/config.toml").read_text(), toml)
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([row["lr"] for row in rows], [0.125, 0.25, 0.25])
        self.assertEqual(rows[2]["tokens"], 3 * 4 * 32)

    def test_warmup_beyond_the_run(self):
        """Trains, and explains why the learning rate stays low."""
        process = self.start("--data", self.text, "--steps", 1, "--out", "short")
        self.assertRegex(process.communicate(timeout=60)[1], "^warning: the schedule still raises the learning "
                         r"rate in the last step 1, to 2 of the peak 4 \(`optimizer.lr`\)\n$")
        self.assertEqual(process.returncode, 0)

    def test_mistakes(self):
        """Each user error has its exit status and a helpful message."""
        def err(*arguments, status, ranks=1):
            return self.run_exe(*arguments, status=status, ranks=ranks)[1]
        self.assertIn("--help", err("--nonsense", status=2))
        for arguments, words in (
                (["trian"], "there is no command `trian`; did you mean `train`?\nsee --help"),
                (["--steps", 1, "evla"], "there is no command `evla`; did you mean `eval`?"),
                (["frobnicate"], "there is no command `frobnicate`; the commands are `train`, `eval`, "
                                 "`generate`, `apply` and `export`"),
                (["train", "more"], "unknown argument `more`"),
                (["--setps", 1], "unknown argument `--setps`; did you mean `--steps`?")):
            self.assertIn("error: " + words, err(*arguments, status=2))
        self.assertIn("--data", err("--steps", 1, status=1))
        self.assertIn("No such file", err("--data", "absent", status=1))
        self.assertIn("the nearest option is `optimizer.lr`",
                      err("--set", "optimizer.lrr=1", "--data", self.text, status=1))
        self.assertIn("there is no option `schedule.up` [T0501]\nschedule.up=1\n^~~~~~~~~~~\nhelp: "
                      "`schedule { ... }` has `decay`, `to` and `warmup`",
                      err("--set", "schedule.up=1", "--data", self.text, status=1))
        for sets, words in ((["schedule.to=0.5", "schedule.decay=constant"],
                             "--set:1:1: error: `schedule.to` has no effect while `schedule.decay` "
                             "is `constant` [T0509]\nschedule.to=0.5\n^~~~~~~~~~~\n"
                             "help: give `schedule.decay` another value, or leave"),
                            (["eval.every=5"],
                             "`eval.every` has no effect without `eval.data.path` [T0509]")):
            self.assertIn(words, err(*[word for pair in sets for word in ("--set", pair)],
                                     "--data", self.text, status=1))
        for settings, words in ((["--set", "seed=1", "--set", "seed=2"], "`seed` is set twice [T0504]"),
                                (["--steps", 2, "--set", "steps=3"], "`steps` is set twice [T0504]"),
                                (["--config", "."], "cannot read '.': it is a directory"),
                                (["--config", "/dev/zero"], "it is longer than 16 MiB")):
            self.assertIn(words, err(*settings, "--data", self.text, status=1))
        for option in ("--out", "--config", "--init-from", "--data"):
            self.assertIn(f"error: {option} needs a non-empty value", err(option, "", status=2))
        self.assertIn("`model.embed` was set when the program was compiled",
                      err("--set", "model.embed=64", "--data", self.text, status=1))
        self.assertIn("titanc build", err("--set", "data.seq=64", "--data", self.text, status=1))
        self.assertIn("PATH=VALUE", err("--set", "steps", "--data", self.text, status=2))
        self.assertIn("--set steps:1:1: error: `steps` takes an integer, not x [T0502]\nx\n^",
                      err("--set", "steps=x", "--data", self.text, status=1))
        config = self.folder / "wrong.toml"
        config.write_text("seed = 1\n[optimizer]\nlr = -1\n")
        self.assertIn(f"{config}:3:6: error: `optimizer.lr` takes a number from 0 on, not -1 "
                      "[T0503]\nlr = -1\n     ^~",
                      err("--config", config, "--data", self.text, status=1))
        for text, place, why in (("seed = 1\n[schedule]\nto = 0.5\n[schedule]\n", "4:1",
                                  "cannot redefine existing table 'schedule'"),
                                 ("seed = 1,\n", "1:9", ""), ("seed = 1979-05-27\n", "1:8",
                                 "a setting cannot be a date or a time")):
            config.write_text(text)
            self.assertRegex(err("--config", config, "--data", self.text, status=1),
                             f"{config}:{place}: error: .*{why}.* .T0512.")
        config.write_text("[optimizer.group.'*norm']\nweight_decay = 0\n")
        self.assertIn("""titanc build FILE.titan --set 'optimizer.group."*norm".weight_decay=0'""",
                      err("--config", config, "--data", self.text, status=1))
        os.mkfifo(self.folder / "pipe")
        for arguments, words in (
                (["--data", "pipe"], "cannot read 'pipe': it is not a regular file"),
                (["--data", self.text, "--save-initial", "nowhere/x"],
                 "cannot write 'nowhere/x': there is no directory 'nowhere'"),
                (["--data", self.text, "--out", self.text], "cannot make the run's directory")):
            self.assertIn("error: " + words, err(*arguments, status=1))
        self.assertIn("--init-from", err("generate", "--prompt", "a", status=1))
        self.assertIn("no weights", err("generate", "--prompt", "a", "--init-from", self.folder,
                                        status=1))
        message = err("--data", self.text, "--dry-run", ranks=3, status=1)
        self.assertIn("batch = 4 cannot be split evenly by data = 3", message)

    def test_options_without_effect(self):
        """An option that a command does not use is refused; so are two sources of weights."""
        for command, option, words in (
                ("eval", ["--steps", 1], "--steps has no effect on `eval`; to evaluate fewer batches, pass `--set "
                 "eval.batches=N`"),
                ("generate", ["--top-k", 5], "--top-k and --top-p have no effect without a "
                                             "--temperature above 0"),
                ("generate", ["--min-p", 0.1], "--min-p has no effect without a --temperature above 0"),
                ("generate", ["--repetition-penalty", 0], "--repetition-penalty takes a number above 0"),
                ("generate", ["--temperature", 1, "--top-p", 1.5], "--top-p takes a probability above 0 "
                                                                   "and up to 1"),
                ("generate", ["--stop", ""], "--stop needs a non-empty value"),
                ("generate", ["--out", "run"], "--out has no effect on `generate`"),
                ("generate", ["--data", "text"], "--data has no effect on `generate`"),
                ("export", ["--profile=3"], "--profile has no effect on `export`"),
                ("train", ["--init-from", "run", "--resume", "run/checkpoints/step-4"],
                 "--resume run/checkpoints/step-4 already has weights: remove --init-from")):
            self.assertIn("error: " + words, self.run_exe(command, *option, status=2)[1])

    def test_too_many_threads(self):
        """More threads than the limit are an error, not a crash."""
        for variable in ("OMP_NUM_THREADS", "TITAN_NUM_THREADS"):
            environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
            ended = subprocess.run([EXE, "--data", self.text, "--steps", "1", "--out",
                                    self.folder / "run"], env={**environment, variable: "100000"},
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn(f"{variable} is '100000', expected a number of threads from 1 to 1024",
                          ended.stderr)

    def test_a_run_that_cannot_begin_leaves_nothing(self):
        """Folders created for the run are removed, existing ones stay."""
        there = self.folder / "there"
        there.mkdir()
        for ranks in (1, 2):
            for out in ("new", "deep/er/new", there):
                self.run_exe("--data", self.text, "--out", out, "--init-from", self.folder / "absent",
                             ranks=ranks, status=1)
            self.assertEqual({path.name for path in self.folder.iterdir()}, {"text", "there"})

    def test_extreme_numbers(self):
        """A number out of range is refused with its text."""
        for setting, bound in (("steps=9223372036854775807", "from 1 to 9007199254740992"),
                               ("seed=99999999999999999999", "from 0 to 9007199254740992")):
            self.assertIn(f"takes a number {bound}, not ", self.run_exe(
                "--data", self.text, "--set", setting, status=1)[1])
        self.assertIn("--steps takes a whole number from 1 to 9223372036854775807, not `1" + "0" * 19,
                      self.run_exe("--steps", "1" + "0" * 19, status=2)[1])

    def test_mistakes_of_all_ranks_are_reported_once(self):
        """An error of all ranks is reported once, also after they have connected; an error of one rank is
        reported by that rank."""
        run, _ = self.train("run", "--steps", 2)
        short = self.folder / "short"
        short.write_bytes(b"short")
        for arguments, words in (
                (["--data", short], "'.*short' holds 5 tokens"),
                (["--data", self.text, "--out", "new", "--init-from", self.folder], "no weights"),
                (["--data", self.text, "--out", self.text], "rank 0: cannot make the run's directory"),
                (["eval", "--data", short, "--init-from", run], "'.*short' holds 5 tokens"),
                (["export", "--init-from", run], "--hf DIR")):
            err = self.run_exe(*arguments, ranks=2, status=1)[1]
            errors = [line for line in err.splitlines() if line.startswith("error: ")]
            self.assertEqual(len(errors), 1, err)
            self.assertRegex(errors[0], words)

    def test_help_and_dry_run(self):
        """--help explains; --dry-run prints the plan and writes nothing."""
        out, _ = self.run_exe("--help")
        for word in ("--resume", "generate", "PATH=VALUE"):
            self.assertIn(word, out)
        out, _ = self.run_exe("--data", self.text, "--out", "dry", "--dry-run")
        self.assertIn("66048 parameters", out)
        self.assertFalse((self.folder / "dry").exists())
        for arguments, mistake in (
                (["--data", "absent"], "cannot read 'absent'"),
                (["--data", self.text, "--out", "text/run"], "cannot make the run's directory 'text/run'"),
                (["--data", self.text, "--init-from", "absent"], "absent"),
                (["--data", self.text, "--resume", "absent"], "'absent' is not a checkpoint"),
                (["generate", "--prompt", "a", "--init-from", "absent"],
                 "--init-from absent: 'absent' does not exist"),
                (["eval", "--data", self.text, "--init-from", "absent"],
                 "--init-from absent: 'absent' does not exist"),
                (["export", "--hf", "to", "--init-from", "absent"], "--init-from absent: 'absent' does not exist")):
            self.assertIn(mistake, self.run_exe(*arguments, "--dry-run", status=1)[1])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["text"])

    def test_weights_that_are_not_finite(self):
        """Each command that starts from such weights names a parameter."""
        run, _ = self.train("run", "--steps", 1)
        data = bytearray((run / "model.safetensors").read_bytes())
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        last = max(tensors, key=lambda name: tensors[name]["data_offsets"])
        data[-8:] = struct.pack("<d", float("nan"))
        bad = self.folder / "bad.safetensors"
        bad.write_bytes(data)
        warning = f"warning: '{last}' holds numbers that are not finite"
        for ranks in (1, 2):
            self.assertIn(warning, self.run_exe("eval", "--data", self.text, "--init-from", bad, ranks=ranks)[1])
        self.assertIn(warning, self.train("more", "--steps", 1, "--init-from", bad, status=76)[1])
        bad.write_bytes((run / "model.safetensors").read_bytes())
        self.assertNotIn("not finite", self.run_exe("eval", "--data", self.text, "--init-from", bad)[1])

    def test_a_loss_that_is_nan(self):
        """A loss that is NaN ends the run with its own status, or is reported once."""
        _, text = self.train("stopped", "--set", "optimizer.lr=1e38", "--steps", 5, status=76)
        self.assertRegex(text, r"error: step 2: the loss is nan \(`nll` nan\) and the gradient's norm nan, so the run stops")
        run, text = self.train("run", "--set", "optimizer.lr=1e38", "--steps", 5, "--set",
                               "on_nonfinite=warn")
        self.assertEqual(len(re.findall("^warning: step 2: the loss is nan ", text, re.M)), 1, text)
        self.assertNotIn("-nan", text)


main()
