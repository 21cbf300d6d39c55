"""Encodes a long text in windows that overlap, with the tokens of the whole text. A library needs 126 bytes of memory for
each byte that it encodes at once.

A tokenizer divides a text into words from left to right, and each word into tokens alone. If two windows begin a word at
the same character of their overlap, all later words are the same, because they depend on the text from there on; so the
tokens of the first window up to this word, and those of the second from it on, are those of the whole. The word must lie in
the middle of the overlap: the words at the edges of a window depend on what it cuts off.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LONG = 1 << 20  # characters of a text that is encoded in windows
WINDOW, OVERLAP = 1 << 19, 1 << 14
EDGE = OVERLAP // 4


@dataclass(frozen=True)
class Window:
    """The tokens of a window, the character at which each begins, and the numbers of those that begin a word."""
    ids: np.ndarray
    begins: np.ndarray
    starts: np.ndarray


def encode_long(encode: Callable[[str], Window], text: str) -> np.ndarray:
    """The tokens of the whole text, at once if the windows have no word in common."""
    parts, begin, first = [], 0, 0
    window = encode(text[:WINDOW])
    while begin + WINDOW < len(text):
        later = begin + WINDOW - OVERLAP
        following = encode(text[later:later + WINDOW])
        joint = find_joint(window, following, later - begin)
        if joint is None:
            return encode(text).ids
        parts.append(window.ids[first:joint[0]])
        window, begin, first = following, later, joint[1]
    return np.concatenate([*parts, window.ids[first:]])


def find_joint(window: Window, following: Window, shift: int) -> tuple[int, int] | None:
    """The numbers of the tokens, in both windows, of a word that both begin at the same character. Three words in a row
    must agree, so that it is no chance."""
    mine = words_in(window, shift + EDGE, shift + OVERLAP - EDGE, shift)
    others = words_in(following, EDGE, OVERLAP - EDGE, 0)
    positions = [at for at in mine if at in others]
    for at, second, third in zip(positions, positions[1:], positions[2:]):
        if [mine[at][1], mine[second][1]] == [others[at][1], others[second][1]]:
            return mine[at][0], others[at][0]
    return None


def words_in(window: Window, begin: int, end: int, shift: int) -> dict[int, tuple[int, bytes]]:
    """By the character, less `shift`, at which words begin: the number of the first token, and the tokens."""
    starts = window.starts
    found = {}
    for number, after in zip(starts[:-1], starts[1:]):
        at = int(window.begins[number])
        if begin <= at < end:
            found[at - shift] = int(number), window.ids[number:after].tobytes()
    return found
