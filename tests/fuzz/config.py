#!/usr/bin/env python3
"""Fuzzes `titanc import` with damaged config.json files.

    config.py --program build/bin/fuzz-config [--seconds 10] [--keep DIR]

The seeds are the configurations of tests/configs; the dictionary contains the keys and words of the library's
`config` declarations. Exit status 1 on a finding, which is printed. With --keep, inputs with new coverage stay in
DIR for the next run.
"""

import argparse
import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path

from libfuzzer import dictionary, fuzz

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/configs"))


def seeds() -> list[bytes]:
    import families
    import transformers
    transformers.logging.set_verbosity_error()  # it warns of tiny sizes
    texts = []
    for case in families.tiny() + families.published():
        config = case.config if isinstance(case.config, dict) else {
            **case.config.to_dict(), "architectures": [families.ARCHITECTURES[case.config.model_type]]}
        texts.append(json.dumps(config).encode())
    return texts


def words() -> set[str]:
    """The fuzzer's dictionary."""
    found = set()
    for path in sorted((ROOT / "stdlib/models").glob("*.titan")):
        for declaration in re.findall(r"^config .*?^}", path.read_text(), re.M | re.S):
            found.update(re.findall(r"\w+", declaration))
    return found | {"null", "true", "false", '": ', '", "', "-1", "0.5", "1e300", "9223372036854775807"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/fuzz-config")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if not importlib.util.find_spec("transformers"):
        print("skipped: fuzzing of configurations, because transformers is not installed")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        (scratch / "config.dict").write_text(dictionary(words()))
        corpus = arguments.keep.resolve() if arguments.keep else scratch / "corpus"
        count, finding = fuzz(arguments.program, seeds(), corpus, scratch, arguments.seconds, 4096,
                              f"-dict={scratch}/config.dict")
    print(f"config.json: {count} inputs, {'a finding' if finding else 'no finding'}\n{finding}".rstrip())
    # Without executed inputs, nothing was tested.
    return 1 if finding or count <= 100 else 0


if __name__ == "__main__":
    sys.exit(main())
