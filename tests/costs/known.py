"""Known faults: deviations of plans from closed forms, which the test requires until they are mended.

A fault names rows and quantities by patterns (`*` is any run of characters). In each row that it names, at least one
of its quantities must deviate: otherwise the row is mended, and its entry must go.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Fault:
    number: str
    what: str
    rows: tuple
    quantities: tuple

    def covers(self, row: str, quantity: str) -> bool:
        return (any(fnmatchcase(row, pattern) for pattern in self.rows)
                and any(fnmatchcase(quantity, pattern) for pattern in self.quantities))


KNOWN = [
    Fault("C14", "the stages of a rank have separate slots, and messages wait in slots",
          ("*interleaved_1f1b m *", "*looped_bfs m *"), ("stashes*",)),
    Fault("C18", "shifted values are saved, or kept while a layer is recomputed", ("Tide_Small, shard 8", "Tide_Small, shard 8, *"),
          ("peak", "residuals")),
    Fault("C20", "a rank with fewer experts than a token has choices has a row for every choice",
          ("Mixtral_8x7B, shard 8, recompute full, tokens move", "*, batch first", "DeepSeek_V3, shard 64, *"),
          ("peak",)),
]


def find_known(row: str, quantity: str) -> Fault | None:
    return next((fault for fault in KNOWN if fault.covers(row, quantity)), None)
