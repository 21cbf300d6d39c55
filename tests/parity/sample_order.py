"""The tokens of each step, from the documented definition, independent of runtime/.

Sample g of a run (g = step * batch + row) is window `permutation(g mod windows)` of epoch g /
windows. Window w covers tokens [w * seq, w * seq + seq]; the last one is a label only. The
permutation is a six-round Feistel network over the smallest even number of bits that holds the
number of windows, with Philox4x32-10 (Salmon et al., SC'11) as its round function: key = seed,
counter = (half, round, epoch low, epoch high). Values out of range are permuted again.
"""

import torch
from torch import Tensor

MASK = 0xFFFFFFFF


def philox(counter: list[int], key: list[int]) -> list[int]:
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def permutation(position: int, size: int, seed: int, epoch: int) -> int:
    half = 1
    while 1 << (2 * half) < size:
        half += 1
    mask, value = (1 << half) - 1, position
    while True:
        left, right = value >> half, value & mask
        for turn in range(6):
            mixed = philox([right, turn, epoch & MASK, epoch >> 32], [seed & MASK, seed >> 32])[0]
            left, right = right, left ^ (mixed & mask)
        value = left << half | right
        if value < size:
            return value


def batches(text: bytes, steps: int, batch: int, seq: int, seed: int) -> Tensor:
    """Tokens [steps, batch, seq + 1]."""
    windows = (len(text) - 1) // seq
    rows = []
    for sample in range(steps * batch):
        window = permutation(sample % windows, windows, seed, sample // windows)
        rows.append(list(text[window * seq:window * seq + seq + 1]))
    return torch.tensor(rows).reshape(steps, batch, seq + 1)
