"""The two kinds of errors that a user can cause."""


class UserError(Exception):
    """Ends the preparation with exit status 1. The text is the complete message."""


class BadRecord(Exception):
    """A record that cannot be used. Its reader adds the file and the line."""


def json_type(value) -> str:
    """The kind of a JSON value, for messages."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", bytes: "bytes", list: "an array",
             dict: "an object"}
    return names.get(type(value), type(value).__name__)


def first_line(error: BaseException) -> str:
    """The first line of an exception, or its kind if it says nothing."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def printable(text: str) -> str:
    """A text without halves of surrogate pairs, which names of files and keys of JSON may have, and no file can."""
    return text.encode(errors="backslashreplace").decode()
