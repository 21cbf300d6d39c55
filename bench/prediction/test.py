"""Tests of the arithmetic of bench/prediction, and of the library's machines. They need neither tables nor tools."""

import tomllib
import unittest
from math import exp

import fit
import machine
import measures
from case import Case, Row

REQUIRED = {"memory": ("bytes", "bandwidth", "efficiency"), "products": ("efficiency", "depth", "tile"),
            "attention": ("forward", "backward"), "loops": ("arithmetic", "special")}


def make_result(measured: float, predicted: float, microbatches: int = 1, memory: float = 0, contest=("all",)):
    row = Row("Gpt2", ("dp = 2 splits batch",), seq=16, batch=4 * microbatches)
    case = Case("table", "row", "test", "a100", "models.gpt2", row, measured, memory=memory, series=("s",),
                contest=contest, microbatches=microbatches, ranks=2)
    return measures.Result(case, predicted, 1.1 * memory)


class MeasuresTest(unittest.TestCase):
    def test_line(self):
        slope, rest = measures.fit_line([(1, 5.0), (2, 7.0), (4, 11.0)])
        self.assertAlmostEqual(slope, 2)
        self.assertAlmostEqual(rest, 3)

    def test_slope_and_intercept_apart(self):
        # Measured 2 + 1 m, predicted 1 + 1.1 m: at m = 10 both are 12, although both parts are wrong.
        [line] = measures.compare_lines(make_result(2 + m, 1 + 1.1 * m, m) for m in (2, 10, 30))
        self.assertAlmostEqual(line.slope, 0.1)
        self.assertAlmostEqual(line.intercept, -0.25)

    def test_order_is_by_speed(self):
        # Twice the samples in less than twice the time is faster.
        results = [make_result(1.0, 1.0, 1), make_result(1.9, 2.1, 2)]
        self.assertEqual(measures.compare_order(results), measures.Order(1, 0))
        self.assertEqual(measures.compare_order(results, 0.1), measures.Order(0, 0))

    def test_contests_are_apart(self):
        results = [make_result(1.0, 1.0, contest=("a",)), make_result(2.0, 1.0, contest=("b",))]
        self.assertEqual(measures.compare_order(results).pairs, 0)

    def test_worst_is_the_largest_quotient(self):
        results = [make_result(1.0, 1.9), make_result(1.0, 0.4)]
        self.assertEqual(measures.find_worst(results).seconds, 0.4)

    def test_memory(self):
        [error] = measures.memory_errors([make_result(1, 1), make_result(1, 1, memory=100)])
        self.assertAlmostEqual(error, 0.1)


class FitTest(unittest.TestCase):
    def test_solve(self):
        self.assertEqual(fit.solve([[0, 2], [4, 0]], [6, 4]), [1, 3])

    def test_minimise(self):
        # Three errors that vanish at (0.7, -0.4), one that does not, and a variable that none depends on.
        def evaluate(points):
            return [[a - 0.7, 3 * (a + b - 0.3), b + 0.4, 0.2 + 0.1 * (b + 0.4)] for a, b, _ in points]
        a, b, c = fit.minimise(evaluate, 3)
        self.assertAlmostEqual(a, 0.7, delta=0.02)
        self.assertAlmostEqual(b, -0.4, delta=0.02)
        self.assertEqual(c, 0)

    def test_fractions_stay_fractions(self):
        self.assertEqual(fit.bound("memory.efficiency", 0.9 * exp(1)), 1)
        self.assertEqual(fit.bound("products.depth", 200), 200)


class MachineTest(unittest.TestCase):
    def test_replace(self):
        text = "launch = 4e-6  # why\n[memory]\nbandwidth = 2e12\nefficiency = 0.9  # old\n[links.network]\nefficiency = 0.8\n"
        new = machine.replace(text, {"memory.efficiency": 0.75, "launch": 5e-6}, "fitted")
        self.assertEqual(machine.get(new, "memory.efficiency"), 0.75)
        self.assertEqual(machine.get(new, "links.network.efficiency"), 0.8)
        self.assertIn("launch = 5e-06  # fitted\n", new)
        with self.assertRaises(SystemExit):
            machine.replace(text, {"products.depth": 1})

    def test_machines_of_the_library(self):
        paths = sorted(machine.LIBRARY.glob("*.toml"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                described = tomllib.loads(path.read_text())
                for section, keys in REQUIRED.items():
                    self.assertLessEqual(set(keys), set(described[section]))
                self.assertIn("ranks", described["links"]["nvlink"])
                self.assertNotIn("ranks", described["links"]["network"])
                self.assertGreater(described["peak"]["bf16"], described["peak"]["f32"])

    def test_numbers_have_sources(self):
        for path in sorted(machine.LIBRARY.glob("*.toml")):
            section = ""
            for line in path.read_text().splitlines():
                section = line if line.startswith("[") else section
                if " = " in line and not line.startswith(("#", "name", "kind", "ranks", "depth", "tile")):
                    with self.subTest(f"{path.name}: {line}"):
                        self.assertTrue("#" in line or "#" in section)


if __name__ == "__main__":
    unittest.main()
