"""Predicted step times beside published ones.

    run.py --data DIR [--fit] [--only REGEX] [--sample N] [-v]

DIR has the tables (which are not in the repository). Each row becomes a Titan program, which titanc plans, and
titan-predict times on the machine of the row. With --fit, the constants of these machines are first fitted to the rows
marked `fit` and written to bench/prediction/machines; all errors are of rows marked `test`. Rows that the language cannot
express are counted with the reason.
"""

import argparse
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import bridge
import fit
import foundry
import machine
import measures
import misc
import simumax
import vtrain
from case import ROOT, Skipped
from machines import FITS
from tools import Compiler, Refused, predict

READERS = (simumax, vtrain, foundry, misc, bridge)
CLEAR = 0.02  # pairs whose measured speeds differ by less may be noise


def read_cases(arguments) -> tuple[list, list]:
    rows = [row for reader in READERS for row in reader.read(arguments.data)]
    rows = [row for row in rows if re.search(arguments.only, f"{row.table}: {row.name}")]
    if arguments.sample:
        rows = rows[::max(1, len(rows) // arguments.sample)]
    return [row for row in rows if not isinstance(row, Skipped)], [row for row in rows if isinstance(row, Skipped)]


def compile_cases(cases: list, workers: int) -> tuple[list, list]:
    """[(case, plan)] and the rows that titanc refuses."""
    compiler = Compiler(ROOT / "out" / "prediction")

    def compile_one(case):
        try:
            return case, compiler.plan(case.text())
        except Refused as refused:
            return Skipped(case.table, case.name, str(refused).strip().splitlines()[0])

    with ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(compile_one, cases))
    return [each for each in done if isinstance(each, tuple)], [each for each in done if isinstance(each, Skipped)]


def check_plan(case, plan: dict) -> str:
    """What contradicts the row, or nothing."""
    if case.parameters and plan["parameters"] != case.parameters:
        return f"{plan['parameters']:,} parameters instead of {case.parameters:,}"
    return "" if plan["ranks"] == case.ranks else f"{plan['ranks']} ranks instead of {case.ranks}"


def find_machine(name: str) -> Path:
    """The fitted machine, or the one of the library from which it would start."""
    base = next((each.base for each in FITS if each.name == name), name)
    return machine.find(name) if machine.find(name).exists() else machine.find(base)


def fit_machines(planned: list) -> None:
    for each in FITS:
        rows = [(case, plan) for case, plan in planned if case.machine == each.name and case.use == "fit"]
        if len(rows) > len(each.constants):
            text = fit.run(each, [plan["step"] for _, plan in rows], [case.seconds for case, _ in rows])
            (machine.FITTED / f"{each.name}.toml").write_text(text)


def predict_cases(planned: list) -> list:
    results = []
    for name in sorted({case.machine for case, _ in planned}):
        rows = [(case, plan) for case, plan in planned if case.machine == name]
        predicted = predict(find_machine(name), [plan["step"] for _, plan in rows])
        results += [measures.Result(case, each["step_seconds"], plan["memory"])
                    for (case, plan), each in zip(rows, predicted, strict=True)]
    return results


def show_percent(value: float) -> str:
    return f"{100 * value:+.1f}"


def make_line(table: str, results: list) -> str:
    """A row of the page: median and worst error, lines over microbatches, order, memory."""
    worst, lines = measures.find_worst(results), measures.compare_lines(results)
    order, clear = measures.compare_order(results), measures.compare_order(results, CLEAR)
    memory = measures.memory_errors(results)
    slope = (f"{show_percent(median(line.slope for line in lines))} | "
             f"{show_percent(median(line.intercept for line in lines))}" if lines else " | ")
    pairs = f"{100 * order.share():.0f} of {order.pairs:,} | {100 * clear.share():.0f} of {clear.pairs:,}"
    shown = f"{show_percent(median(memory))}, {show_percent(max(memory, key=abs))}" if memory else ""
    return (f"| {table} | {len(results)} | {100 * measures.median_error(results):.1f} | "
            f"{show_percent(median(result.error() for result in results))} | {show_percent(worst.error())} | {slope} | "
            f"{pairs} | {shown} |")


def report(results: list) -> None:
    print("| rows | number | median error, % | signed | worst | slope | intercept | pairs in order, % | further apart than "
          f"{CLEAR:.0%} | memory, median and worst |\n|---|---|---|---|---|---|---|---|---|---|")
    for use in ("test", "fit"):
        for name in sorted({result.case.machine for result in results}):
            rows = [result for result in results if result.case.machine == name and result.case.use == use]
            if rows:
                print(make_line(f"{name}, {use}", rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--fit", action="store_true", help="fit the machines to the rows marked `fit`")
    parser.add_argument("--only", default="", help="rows whose table and name match this regular expression")
    parser.add_argument("--sample", type=int, default=0, help="about this many rows, evenly spaced")
    parser.add_argument("--workers", type=int, default=2, help="compilers at once")
    parser.add_argument("-v", action="store_true", help="show all rows")
    arguments = parser.parse_args()
    cases, skipped = read_cases(arguments)
    planned, refused = compile_cases(cases, arguments.workers)
    wrong = [f"{case.table}: {case.name}: {what}" for case, plan in planned if (what := check_plan(case, plan))]
    if arguments.fit:
        fit_machines(planned)
    results = predict_cases(planned)
    if arguments.v:
        for result in results:
            print(f"{result.case.table}, {result.case.use}: {result.case.name}: {1e3 * result.case.seconds:.1f} ms measured, "
                  f"{1e3 * result.seconds:.1f} predicted, {show_percent(result.error())} %")
    report(results)
    print(f"\nslowest compilation: {max(plan['compile_seconds'] for _, plan in planned):.2f} s of processors")
    for (table, reason), number in sorted(Counter((row.table, row.reason) for row in skipped + refused).items()):
        print(f"not predicted, {table}: {number} rows, {reason}")
    if wrong:
        raise SystemExit("\n".join(["error: plans contradict their rows", *wrong]))


if __name__ == "__main__":
    main()
