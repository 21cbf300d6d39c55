"""Compares tokens, documents and weights of titan-prepare with libraries and plain Python; tests resumption and damaged
inputs.

    run.py [-v] [NAME...]
"""

import argparse
import importlib.util
import shutil
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "parity")]
from prepared import Wrong  # noqa: E402
from titan import TITANC, Report  # noqa: E402

LIBRARIES = ("numpy", "tokenizers", "datasets", "pyarrow", "sentencepiece", "tiktoken", "jinja2",
             "transformers")


def cases():
    import answers
    import arrays
    import chats
    import files
    import forms
    import hostile
    import inputs
    import planted
    import preferences
    import records
    import resumption
    import serving
    import tokens
    modules = [tokens, inputs, files, arrays, answers, chats, forms, preferences, serving, resumption, hostile, records, planted]
    if TITANC.exists():
        import program
        modules.append(program)
    else:
        print(f"skipped: a compiled program, because {TITANC} does not exist")
    return [case for module in modules for case in module.CASES]


def attempt(case, folder: Path) -> tuple[bool, str]:
    try:
        case(folder / case.__name__)
        return True, case.__doc__ or ""
    except Wrong as error:
        return False, f"    {error}"
    except Exception:
        return False, traceback.format_exc()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", action="store_true", help="show the details of what passed too")
    arguments = parser.parse_args()
    if missing := [name for name in LIBRARIES if not importlib.util.find_spec(name)]:
        print(f"skipped: without the Python packages {', '.join(missing)} (scripts/setup --data --tests installs them)")
        return
    report, folder = Report(), Path(tempfile.mkdtemp(prefix="titan-prepare-"))
    try:
        report.cases([(case.__name__.replace("_", " "), partial(attempt, case, folder)) for case in cases()],
                     arguments.names)
    finally:
        if report.failed:
            print(f"the files of the cases are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    report.end()


if __name__ == "__main__":
    main()
