"""The main program of tests against PyTorch in float64."""

from pathlib import Path

import torch

from titan import Report, read_arguments


def run_in_float64(description: str, out: Path, cases) -> None:
    """Runs the cases that `cases(everything)` yields, as pairs of name and function. `everything` is true with --all or
    with names of cases."""
    arguments = read_arguments(
        description, out, lambda parser: parser.add_argument("--all", action="store_true",
                                                             help="every case on every mesh"))
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    report = Report()
    report.cases(cases(arguments.all or bool(arguments.names)), arguments.names)
    report.end()
