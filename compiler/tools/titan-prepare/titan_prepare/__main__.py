"""`python -m titan_prepare`; the launcher `titan-prepare` starts it."""

import sys

from titan_prepare.errors import UserError
from titan_prepare.libraries import require


def start() -> int:
    try:
        require("numpy")  # which every module needs
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if sys.argv[1:2] == ["--serve"] and len(sys.argv) == 3:
        from titan_prepare.serve import serve
        return serve(sys.argv[2])
    from titan_prepare.cli import main
    return main()


if __name__ == "__main__":  # worker processes import this file under another name
    sys.exit(start())
