"""A pipeline has the same losses, gradients, files and evaluation on one, two and four ranks."""

import json
import os
import struct

from program import ProgramCase, losses, main


def tensors(file):
    """The tensors of a safetensors file, as bytes by name."""
    data = file.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    return {name: body[slice(*entry["data_offsets"])]
            for name, entry in header.items() if name != "__metadata__"}


class StagedTest(ProgramCase):
    """Several ranks have two stages; further ranks shard the batch."""

    def start(self, *arguments, ranks=1, environment=os.environ, **launcher):
        stages = "1" if ranks == 1 else "2"
        return super().start(*arguments, ranks=ranks, **launcher,
                             environment={**environment, **self.transport, "STAGED_PP": stages})

    transport = {}

    def assert_close(self, first, second):
        self.assertEqual(len(first), len(second))
        for a, b in zip(first, second):
            self.assertAlmostEqual(a, b, delta=1e-13)

    def test_losses(self):
        """Two stages on two ranks have the bits of one rank; sharded batches are equal up to rounding."""
        alone, _ = self.train("alone")
        staged, _ = self.train("staged", ranks=2)
        self.assertEqual(losses(alone), losses(staged))
        self.assertLess(losses(alone)[-1], losses(alone)[0])
        self.assertEqual((alone / "model.safetensors").read_bytes(),
                         (staged / "model.safetensors").read_bytes())
        sharded, _ = self.train("sharded", "--check-replicas", ranks=4)
        self.assert_close(losses(alone), losses(sharded))

    def test_sockets(self):
        """Messages through Gloo are the same as through shared memory."""
        alone, _ = self.train("alone")
        self.transport = {"TITAN_COMM": "gloo"}
        staged, _ = self.train("staged", ranks=2)
        self.assertEqual(losses(alone), losses(staged))

    def test_gradients(self):
        """--save-gradients writes those of all stages."""
        self.train("alone", "--save-gradients", "alone.safetensors", "--stop-at", 1)
        self.train("staged", "--save-gradients", "staged.safetensors", "--stop-at", 1, ranks=2)
        alone = tensors(self.folder / "alone.safetensors")
        self.assertEqual(set(alone), {"table", "weight", "gain"})
        self.assertTrue(all(any(data) for data in alone.values()))
        self.assertEqual(alone, tensors(self.folder / "staged.safetensors"))

    def test_checkpoints(self):
        """A run resumes with another number of stages or of shards of the batch."""
        whole, _ = self.train("whole")
        for before, after in ((2, 1), (1, 2), (4, 2)):
            name = f"from-{before}-to-{after}"
            self.train(name, "--stop-at", 4, ranks=before)
            resumed, _ = self.train(name, ranks=after)
            self.assert_close(losses(whole), losses(resumed))

    def test_evaluation(self):
        """`eval`, alone and between steps, has the same loss on one and two ranks."""
        run, _ = self.train("run", "--set", f"eval.data.path={self.text}", "--set", "eval.every=8", ranks=2)
        between = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["eval_loss"]
        arguments = ("eval", "--data", self.text, "--init-from", run)
        printed = {self.run_exe(*arguments, ranks=ranks)[0].split("tokens")[0] for ranks in (1, 2)}
        self.assertEqual(len(printed), 1, printed)
        self.assertAlmostEqual(float(printed.pop().split()[1]), between, delta=1e-15)

    def test_profile(self):
        """The actions of a profile are those of the table of 1F1B, in its order."""
        run, _ = self.train("run", "--profile=2", ranks=2)
        expected = {0: "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3", 1: "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3"}
        for rank, actions in expected.items():
            trace = json.loads((run / f"profile/rank-{rank}.json").read_text())["traceEvents"]
            spans = sorted((e for e in trace if e["ph"] == "X"), key=lambda e: e["ts"])
            found = [e["name"] for e in spans if e["name"] in actions.split()]
            self.assertEqual(found, 2 * actions.split())


main()
