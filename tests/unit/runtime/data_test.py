"""Input data of a program: tokens of indexed files, and errors in them."""

import json
import os
import re
import signal
import struct
import time
import unittest

from program import TEXT, ProgramCase, losses, main


class DataTest(ProgramCase):
    def write_indexed(self, tokens, code="H", kind=8):
        """corpus.idx and corpus.bin in Megatron-LM's format, with three sequences."""
        cuts = [0, len(tokens) // 3, len(tokens) // 3, len(tokens)]
        lengths = [b - a for a, b in zip(cuts, cuts[1:])]
        width = struct.calcsize("<" + code)
        (self.folder / "corpus.idx").write_bytes(
            b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, kind, 3, 4) + struct.pack("<3i", *lengths) +
            struct.pack("<3q", *(width * cut for cut in cuts[:3])) + struct.pack("<4q", 0, 1, 2, 3))
        (self.folder / "corpus.bin").write_bytes(struct.pack(f"<{len(tokens)}{code}", *tokens))

    def train_indexed(self, name, *arguments, **options):
        out, err = self.run_exe("--data", self.folder / "corpus", "--set", "data.format=indexed",
                                "--out", self.folder / name, "--log-every", 1, *arguments, **options)
        return self.folder / name, out + err

    def test_trains_as_on_the_same_tokens_of_a_text(self):
        text, _ = self.train("bytes")
        for code, kind in (("H", 8), ("i", 4), ("q", 5)):
            self.write_indexed(list(TEXT), code, kind)
            run, _ = self.train_indexed(f"indexed-{code}")
            self.assertEqual(losses(run), losses(text))
        several, _ = self.train_indexed("several", ranks=2)
        for one, two in zip(losses(text), losses(several), strict=True):
            self.assertAlmostEqual(one, two, places=5)

    def test_epochs_are_passes_over_all_samples(self):
        """One and a half passes, the last batch completed by samples of the next pass."""
        run, output = self.train("epochs", "--epochs", 1.5)
        samples = int(re.search(r"1.5 epochs of (\d+) samples are", output).group(1))
        batch = 4  # of BigramProgram.cpp
        steps = -(-3 * samples // (2 * batch))
        self.assertEqual(len(losses(run)), steps)
        self.assertIn(f"are {steps} steps", output)
        same, _ = self.train("steps", "--steps", steps)
        self.assertEqual(losses(run), losses(same))
        for arguments in (("--steps", 3), ("--set", "steps=3")):
            _, output = self.train("both", "--epochs", 1, *arguments, status=2)
            self.assertIn("--epochs", output)

    def test_a_token_that_the_model_does_not_know(self):
        self.write_indexed([*TEXT[:700], 256, *TEXT[701:]], "i", 4)
        _, output = self.train_indexed("stray", status=1)
        self.assertIn("holds the token 256 at position 700, but the model's vocabulary has 256 tokens",
                      output)

    def test_negative_tokens(self):
        """For every signed type, narrow ones too; the message explains a possible cause."""
        for code, kind in (("b", 2), ("h", 3), ("i", 4), ("q", 5)):
            for token, words in ((-1, ""), (-36, ""), (-100, "; -100 is PyTorch's `ignore_index`")):
                self.write_indexed([*TEXT[:700], token, *TEXT[701:]], code, kind)
                _, output = self.train_indexed(f"{code}{token}", "--steps", 2, status=1)
                self.assertIn(f"holds the token {token} at position 700, but no token is negative{words}",
                              output)
                self.assertEqual(f"it may be {token + 256}, stored in a type that is too narrow" in output,
                                 code == "b" and token != -100, output)

    def test_weights_that_nothing_reads(self):
        """The model has no such input: all labels count, and a note says so."""
        self.write_indexed(list(TEXT))
        _, output = self.train_indexed("all", "--steps", 2)
        self.assertNotIn("no input `weights`", output)
        (self.folder / "corpus.weights.bin").write_bytes(bytes(len(TEXT)))
        _, output = self.train_indexed("answers", "--steps", 2)
        self.assertIn("the model has no input `weights`, so all labels count, including those that '", output)
        self.assertIn("corpus.weights.bin' excludes; declare it with the dimensions of `tokens`", output)

    def test_a_file_that_is_cut_while_it_is_used(self):
        """The file is named, and no token is read as 0: truncated within its last page, and far before it."""
        long = self.folder / "long"
        for left in (100, 8192):
            long.write_bytes(TEXT * 40)
            process = self.start("--data", long, "--out", f"run-{left}", "--log-every", 1, "--steps",
                                 1_000_000)
            while not (self.folder / f"run-{left}/metrics.jsonl").exists() or \
                    len(losses(self.folder / f"run-{left}")) < 3:
                time.sleep(0.01)
            os.truncate(long, left)
            _, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (70, -signal.SIGBUS), err)
            self.assertRegex(err, f"error: (rank 0: SIGBUS \\('{long}' was truncated|'{long}' has {left} "
                                  f"bytes, and had {len(TEXT) * 40})")
            status = json.loads((self.folder / f"run-{left}/status.json").read_text())
            self.assertEqual(status["state"], "failed")

    def test_files_that_do_not_belong_together(self):
        self.write_indexed(list(TEXT))
        with open(self.folder / "corpus.bin", "ab") as file:
            file.write(b"more")
        _, output = self.train_indexed("longer", status=1)
        self.assertIn(f"corpus.idx' lists {2 * len(TEXT)} bytes of tokens, but ", output)

    def test_one_format_taken_for_the_other(self):
        self.write_indexed(list(TEXT))
        for file in ("corpus.bin", "corpus.idx"):
            _, output = self.run_exe("--data", file, status=1)
            self.assertIn(f"'{file}' is not a text file", output)
            self.assertIn("--set data.format=indexed", output)
        _, output = self.run_exe("--data", "text", "--set", "data.format=indexed", status=1)
        self.assertIn("'text' is text, and the run has no tokenizer", output)
        self.assertIn("--set data.format=text", output)
        _, output = self.run_exe("--data", "text", "--set", "data.format=indexed", "--init-from", "absent", status=1)
        self.assertIn("--init-from absent: 'absent' does not exist", output)

    def test_files_that_do_not_exist(self):
        """The message has the path as it was given, and what it could mean."""
        self.write_indexed(list(TEXT))
        (self.folder / "half.bin").write_bytes(TEXT)
        for data, words in (("nothere.jsonl", "cannot read 'nothere.jsonl': No such file or directory, and no tokens "
                             "'nothere.jsonl.bin' with 'nothere.jsonl.idx'"),
                            ("corpus other", "; of several paths, a mixture has a weight before each path"),
                            ("half", "cannot read 'half.idx': No such file"),
                            ("0.5 corpus 0.5 absent", "cannot read 'absent': No such file")):
            _, output = self.run_exe("--data", data, "--set", "data.format=indexed", status=1)
            self.assertIn(words, output)

    def test_generates_numbers(self):
        """The same tokens as a program that writes text."""
        run, _ = self.train("bytes")
        weights = ("--init-from", run, "--max-tokens", 5)
        text, speed = self.run_exe("generate", *weights, "--prompt", "In")
        self.assertRegex(speed, r"prompt: 2 tokens, .* tokens/s; continuation: 5 tokens, .* after the first")
        numbers, _ = self.run_exe("generate", *weights, "--prompt", "73 110", "--set",
                                  "data.format=indexed")
        self.assertEqual([int(n) for n in numbers.split()], list(text.rstrip("\n").encode()))
        for prompt, mistake in (("73 256", "not '256'"), ("1.5", "not '1.5'"),
                                ("In", "not 'In'"), (" ", "at least one token")):
            _, output = self.run_exe("generate", *weights, "--prompt", prompt, "--set",
                                   "data.format=indexed", status=1)
            self.assertIn(mistake, output)

    def test_texts_beyond_the_program(self):
        """What is not read of a long prompt is said, and counted neither as tokens nor as time."""
        run, _ = self.train("bytes")
        generate = ("generate", "--init-from", run, "--max-tokens", 5)
        (self.folder / "prompts.txt").write_text(TEXT.decode()[:100] + "\n" + TEXT.decode()[:30] + "\nIn\n")
        out, err = self.run_exe(*generate, "--prompts", "prompts.txt", "--json")
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([row["dropped"] for row in rows], [68, 0, 0])
        self.assertEqual([len(row["tokens"]) for row in rows], [5, 5, 5])
        self.assertIn("warning: 1 prompt longer than the 32 tokens of the program, up to 100: only the last 32 "
                      "tokens are read", err)
        self.assertIn("--set data.seq=105", err)
        self.assertIn("note: 1 text became longer than the 32 tokens of the program", err)
        self.assertRegex(err, "prompt: 64 tokens, .*; continuation: 15 tokens, ")
        short, err = self.run_exe(*generate, "--prompt", "In")
        self.assertNotIn("longer", err)

    def test_prompts_and_stops_that_cannot_be(self):
        run, _ = self.train("bytes")
        generate = ("generate", "--init-from", run)
        (self.folder / "blank.txt").write_text("In\n\nthe\n")
        (self.folder / "empty.jsonl").write_text('{"prompt": "a"}\n\n{"prompt": ""}\n')
        for options, words in (
                (["--prompt", "a", "--stop-token", 256], "--stop-token takes a token of the model, from 0 to 255, not 256"),
                (["--prompt", "a", "--stop-token", -1], "from 0 to 255, not -1"),
                (["--prompts", "blank.txt"], "blank.txt:2: the line is blank"),
                (["--prompts", "empty.jsonl"], "prompt 2 of --prompts empty.jsonl: generate needs a prompt")):
            self.assertIn(words, self.run_exe(*generate, *options, status=1)[1])

    def test_a_format_that_does_not_exist(self):
        _, output = self.train("parquet", "--set", "data.format=parquet", status=1)
        self.assertIn("legal: `text` and `indexed`", output)


main()
