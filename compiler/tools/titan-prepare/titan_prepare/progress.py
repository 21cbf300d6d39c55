"""Progress on a terminal: the fraction, the rates, and the time that is left. Elsewhere it writes nothing."""

import sys
import time

INTERVAL = 0.2  # seconds between two updates
SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(number: float) -> str:
    """1234567 as 1.23 M."""
    for scale, name in SCALES:
        if number >= scale:
            return f"{number / scale:.3g} {name}"
    return f"{number:.3g} "


def spell_seconds(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Progress:
    """`total` is the sum of all `advance`; `begun` was done by an earlier run, and counts in no rate."""

    def __init__(self, what: str, total: int, begun: int = 0):
        self.what, self.total, self.done, self.begun = what, max(total, 1), begun, begun
        self.documents = self.tokens = 0
        self.started = time.monotonic()
        self.shown = 0.0
        self.visible = sys.stderr.isatty()

    def count(self, documents: int, tokens: int) -> None:
        self.documents += documents
        self.tokens += tokens
        self.show()

    def advance(self, amount: int) -> None:
        self.done += amount
        self.show()

    def show(self) -> None:
        now = time.monotonic()
        if self.visible and now - self.shown >= INTERVAL:
            self.shown = now
            print(f"\r\x1b[K{self.line(now - self.started)}", end="", file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        seconds = max(seconds, 1e-3)
        parts = [f"{self.what}: {self.done / self.total:4.0%}"]
        if self.tokens:
            parts.append(f"{short(self.documents)}documents, {short(self.tokens)}tokens, "
                         f"{short(self.tokens / seconds)}tokens/s")
        rate = (self.done - self.begun) / seconds
        if rate > 0:
            parts.append(f"{spell_seconds((self.total - self.done) / rate)} left")
        return ", ".join(parts)

    def end(self) -> None:
        if self.visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
