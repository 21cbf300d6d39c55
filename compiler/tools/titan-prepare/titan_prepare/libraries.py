"""Imports of libraries at their first use, so that a preparation needs only those of its inputs and tokenizer."""

import contextlib
import importlib
import sys
from pathlib import Path
from types import ModuleType

from titan_prepare.errors import UserError, first_line

HOME = Path(__file__).resolve().parents[1]
REQUIREMENTS = "requirements-data.txt"


def install_command() -> str:
    """The command that installs the libraries: scripts/setup in a source tree, or else pip with the package's list."""
    setup = HOME.parents[2] / "scripts" / "setup"
    if setup.exists():
        return f"{setup} --data"
    return f"{sys.executable} -m pip install -r {HOME / REQUIREMENTS}"


def require(module: str) -> ModuleType:
    """The module, or an error with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise UserError(f"the Python package `{package}` cannot be imported ({error}); "
                        f"this installs it: {install_command()}") from error


@contextlib.contextmanager
def errors_as(kind: type[Exception], message: str):
    """Converts every exception of a library to this error: `message`, and the first line of the exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # libraries in Rust panic with a BaseException
        raise kind(f"{message}: {first_line(error)}") from error
