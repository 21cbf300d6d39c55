"""`python -m titan_prepare`; the launcher `titan-prepare` starts it."""

import sys

from titan_prepare.cli import main

if __name__ == "__main__":  # worker processes import this file under another name
    sys.exit(main())
