"""Translates kernel launches to calls, so that a C++ compiler accepts a CUDA source.

    launches.py FILE OUT

    name<<<grid, block, shared, stream>>>(arguments);

becomes

    ::cuda_host::launch({grid, block, shared, stream}, (const void *)name, [=] { name(arguments); });

which copies the arguments like a launch. Names must have all their template arguments; the arguments are
variables and must not contain `[=]`. Line numbers are preserved.
"""

import re
import sys
from pathlib import Path

NAME = re.compile(r"[A-Za-z_][\w:]*(?:<[\w:, ]*>)?$")


def end_of_call(text: str, start: int) -> int:
    """The position after the parenthesis that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a launch's arguments do not end")


def translate(text: str) -> str:
    while (at := text.find("<<<")) >= 0:
        name = NAME.search(text[:at])
        end = text.find(">>>", at)
        if not name or end < 0 or text[end + 3] != "(":
            raise ValueError(f"not a launch: {text[max(0, at - 40):at + 40]!r}")
        close = end_of_call(text, end + 3)
        call = (f"::cuda_host::launch({{{text[at + 3:end]}}}, (const void *){name[0]}, "
                f"[=] {{ {name[0]}{text[end + 3:close]}; }})")
        text = text[:name.start()] + call + text[close:]
    return text


if __name__ == "__main__":
    source, out = (Path(argument).resolve() for argument in sys.argv[1:])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(f'#line 1 "{source}"\n' + translate(source.read_text()))
