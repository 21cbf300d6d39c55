"""Tests the parity tests: the references train, and the comparison accepts equal runs and rejects
every mutant, in float64 and in float32."""

import importlib
import sys
import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from compare import bitwise_equal, compare, read_losses
from reference import run
from sample_order import batches, permutation, philox
from training import MUTATIONS, Recipe, schedule

SIZES = {
    "llama3": dict(layers=2, embed=32, kv_heads=2, group=2, head=8, ffn=64, vocab=64),
    "gpt2": dict(layers=2, embed=32, heads=4, head=8, ffn=64, vocab=64, context=32),
}


def write_inputs(model: str, folder: Path) -> None:
    """Random weights of ordinary scale and a text of random bytes with structure to learn."""
    random = torch.Generator().manual_seed(1)
    shapes = importlib.import_module(f"models.{model}").shapes(**SIZES[model])
    weights = {}
    for name, shape in shapes.items():
        normal = torch.randn(shape, generator=random, dtype=torch.float64)
        # Different from their usual constants, so that their gradients matter.
        centre = 1.0 if name.endswith("norm") else 0.0
        weights[name] = centre + 0.1 * normal
    tokens = torch.randint(2, 4, (20, 4, 33), generator=random).cumsum(-1) % 64
    save_file(weights, folder / "weights.safetensors")
    save_file({"tokens": tokens}, folder / "batches.safetensors")


class Parity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name)
        for model in SIZES:
            (cls.root / model).mkdir()
            write_inputs(model, cls.root / model)
            for dtype in ("float64", "float32"):
                cls.train(model, dtype)

    @classmethod
    def train(cls, model, dtype, mutation="", name=None):
        folder = cls.root / model
        out = folder / f"{name or mutation or 'plain'}-{dtype}"
        run(model, folder / "weights.safetensors", folder / "batches.safetensors", out, dtype,
            Recipe(), mutation)
        return out

    def each(self):
        return [(model, dtype, self.root / model / f"plain-{dtype}")
                for model in SIZES for dtype in ("float64", "float32")]

    def test_learns(self):
        """The loss decreases over the 20 steps."""
        for _, _, plain in self.each():
            losses = read_losses(plain)
            self.assertEqual(sorted(losses), list(range(1, 21)))
            self.assertLess(losses[20], losses[1] - 0.02)

    def test_deterministic(self):
        """A second run of the same kind is bitwise equal."""
        for model, dtype, plain in self.each():
            again = self.train(model, dtype, name="again")
            for file in ("gradients.safetensors", "model.safetensors"):
                self.assertEqual(bitwise_equal(again / file, plain / file), [])
            self.assertTrue(compare(again, plain, dtype).passed())

    def test_mutants(self):
        """Every fault is detected."""
        for model, dtype, plain in self.each():
            for mutation in MUTATIONS:
                with self.subTest(model=model, dtype=dtype, mutation=mutation):
                    mutant = self.train(model, dtype, mutation)
                    self.assertFalse(compare(mutant, plain, dtype).passed())

    def test_float32_is_near(self):
        """The float32 run follows the float64 run."""
        for model in SIZES:
            folder = self.root / model
            result = compare(folder / "plain-float32", folder / "plain-float64", "float32")
            self.assertTrue(result.passed(), result.table())

    def test_damage(self):
        """A missing tensor, a missing step, a NaN, another shape and a loss that the other run
        lacks are faults, not agreement."""
        plain = self.root / "llama3" / "plain-float64"
        gradients = load_file(plain / "gradients.safetensors")
        nan = {**gradients, "norm": torch.full_like(gradients["norm"], torch.nan)}
        short = {n: t for n, t in gradients.items() if n != "norm"}
        flat = {**gradients, "table": gradients["table"].flatten()}
        rows = (plain / "metrics.jsonl").read_text().splitlines(keepends=True)
        named = [row.replace('"losses": {}', '"losses": {"z": 1.0}') for row in rows]
        self.assertNotEqual(named, rows)
        for tensors, text in ((nan, rows), (short, rows), (flat, rows), (gradients, rows[:-1]),
                              (gradients, named)):
            broken = self.root / "broken"
            broken.mkdir(exist_ok=True)
            save_file(tensors, broken / "gradients.safetensors")
            save_file(load_file(plain / "model.safetensors"), broken / "model.safetensors")
            (broken / "metrics.jsonl").write_text("".join(text))
            self.assertFalse(compare(broken, plain, "float64").passed())

    def test_sample_order(self):
        """Philox gives its authors' published answers; every epoch visits each sample once."""
        self.assertEqual(philox([0, 0, 0, 0], [0, 0]),
                         [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])
        ones = 0xFFFFFFFF
        self.assertEqual(philox([ones] * 4, [ones] * 2),
                         [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD])
        for size in (1, 2, 5, 60):
            seen = [permutation(i, size, seed=7, epoch=3) for i in range(size)]
            self.assertEqual(sorted(seen), list(range(size)))
        rows = batches(bytes(range(256)), steps=3, batch=5, seq=17, seed=0).reshape(15, 18)
        self.assertEqual(sorted(row[0] for row in rows.tolist()), list(range(0, 255, 17)))

    def test_schedule(self):
        """Warm-up, the first decaying step and the last one, computed by hand."""
        linear = Recipe(steps=20, warmup=2)
        self.assertEqual([schedule(s, linear) for s in (0, 1, 2)], [0.5, 1.0, 1.0])
        self.assertAlmostEqual(schedule(3, linear), 17 / 18, places=15)
        self.assertAlmostEqual(schedule(19, linear), 1 / 18, places=15)
        cosine = Recipe(steps=21, warmup=1, decay="cosine", to=0.1)
        self.assertAlmostEqual(schedule(11, cosine), 0.1 + 0.9 * 0.5, places=15)


if __name__ == "__main__":
    torch.set_num_threads(1)
    program = unittest.main(exit=False, verbosity=1)
    ran = program.result.testsRun
    print(f"{ran - len(program.result.failures) - len(program.result.errors)} out of {ran} passed")
    sys.exit(0 if program.result.wasSuccessful() else 1)
