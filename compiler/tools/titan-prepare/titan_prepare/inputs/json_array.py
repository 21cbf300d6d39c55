"""Files that are one array of JSON. The elements are found one by one, so that the memory is that of an element."""

import re
from collections.abc import Iterator

from titan_prepare.errors import UserError
from titan_prepare.files import BLOCK
from titan_prepare.inputs.compression import damage_named, open_file
from titan_prepare.inputs.lines import BYTE_ORDER_MARK, JsonLines
from titan_prepare.inputs.sources import Source
from titan_prepare.limits import TooLarge

SPACE = b" \t\r\n"
OUTSIDE = re.compile(rb'["{}\[\],]')  # what has a meaning outside of strings
INSIDE = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)  # a string up to its end, or to a part of an escape
BEGIN, END, DEPTH = frozenset(b"[{"), frozenset(b"]}"), 1


class JsonArray(JsonLines):
    """Positions are offsets of elements in bytes. The file cannot be entered in the middle."""

    def slices(self, chunk: int) -> list[tuple[int, int, int]]:
        return [(0, 1 << 62, self.source.bytes)]

    def rows(self, begin: int, end: int) -> Iterator[tuple[int, bytes | TooLarge]]:
        with damage_named(self.source.path), self.open() as file:
            splitter = Splitter(self.source.path, self.most_bytes)
            while block := file.read(BLOCK):
                yield from splitter.split(block)
            splitter.finish()


class Splitter:
    """Divides the bytes of an array into its elements. An element is kept in parts until it is complete; of one that is
    too large only the size."""

    def __init__(self, path: str, most_bytes: int):
        self.path, self.most_bytes = path, most_bytes
        self.depth, self.in_string, self.escaped, self.ended = 0, False, False, False
        self.parts, self.size, self.begin, self.at = [], 0, 0, 0

    def split(self, block: bytes) -> Iterator[tuple[int, bytes | TooLarge]]:
        if self.at == 0:
            block = b"   " + block[3:] if block.startswith(BYTE_ORDER_MARK) else block
        kept = at = 0  # the element has the bytes from `kept` on
        if self.depth == 0 and not self.ended:
            at = kept = self.open_array(block)
        while at < len(block) and not self.ended:
            at = self.pass_string(block, at) if self.in_string else self.next_mark(block, at)
            if at is None:
                break
            if self.in_string:
                continue
            mark = block[at - 1]
            if self.depth == DEPTH and mark == ord(",") or self.depth == 0:
                if self.depth == 0 and mark != ord("]"):
                    raise UserError(f"'{self.path}' is damaged: its array of JSON ends with `{chr(mark)}`")
                self.keep(block[kept:at - 1])
                yield from self.take(last=self.depth == 0)
                self.begin = self.at + at
                kept = at
                self.ended = self.depth == 0
        if self.ended and block[kept:].strip(SPACE):
            raise UserError(f"'{self.path}' has more after the end of its array")
        if not self.ended:
            self.keep(block[kept:])
        self.at += len(block)

    def open_array(self, block: bytes) -> int:
        at = len(block) - len(block.lstrip(SPACE))
        self.depth, self.begin = (DEPTH if at < len(block) else 0), self.at + at + 1
        return min(at + 1, len(block))

    def pass_string(self, block: bytes, at: int) -> int | None:
        """The position after the end of the string; None if the block ends before it."""
        if self.escaped:
            at, self.escaped = at + 1, False
        at = INSIDE.match(block, at).end()
        if at == len(block) or block[at] != ord('"'):
            self.escaped = at < len(block)  # a backslash is the last byte
            return None
        self.in_string = False
        return at + 1

    def next_mark(self, block: bytes, at: int) -> int | None:
        """The position after the next mark, whose meaning is noted; None if there is none."""
        found = OUTSIDE.search(block, at)
        if not found:
            return None
        mark = found.group()[0]
        self.in_string = mark == ord('"')
        self.depth += (mark in BEGIN) - (mark in END)
        return found.end()

    def keep(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self.most_bytes:
            self.parts = []
        elif part:
            self.parts.append(part)

    def take(self, last: bool) -> Iterator[tuple[int, bytes | TooLarge]]:
        """The element, unless the array is empty."""
        if self.size > self.most_bytes:
            yield self.begin, TooLarge(self.size)
        else:
            element = b"".join(self.parts)
            blank = len(element) - len(element.lstrip(SPACE))
            if element.strip(SPACE) or not last:
                yield self.begin + blank, element.strip(SPACE)
        self.parts, self.size = [], 0

    def finish(self) -> None:
        if not self.ended:
            raise UserError(f"'{self.path}' is damaged: its array of JSON has no end")


def is_array(source: Source) -> bool:
    """Whether the content of a file begins as an array. Lines of JSON are objects."""
    with damage_named(source.path), open_file(source.path) as file:
        return file.read(BLOCK).removeprefix(BYTE_ORDER_MARK).lstrip(SPACE).startswith(b"[")
