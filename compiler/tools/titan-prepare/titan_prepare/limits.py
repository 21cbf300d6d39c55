"""The boundary around the work on one record: limits of time and memory, and one kind of error for all that fails."""

import contextlib
import os
import resource
import signal
from dataclasses import dataclass

from titan_prepare.errors import BadRecord, UserError, first_line

MEMORY_PER_BYTE, LEAST_MEMORY = 16, 256 << 20  # of a record, for its values and the text of a template


@dataclass(frozen=True)
class RecordLimits:
    bytes: int = 64 << 20
    seconds: int = 60

    @property
    def memory(self) -> int:
        return max(LEAST_MEMORY, MEMORY_PER_BYTE * self.bytes)


@dataclass(frozen=True)
class TooLarge:
    """In place of a record that was not read, because it has too many bytes."""
    bytes: int


def refuse_large(row, most: int) -> None:
    if isinstance(row, TooLarge):
        raise BadRecord(f"the record has {row.bytes:,} bytes, and --record-bytes allows {most:,}")


class OutOfTime(BaseException):
    """No Exception, so that no library takes it for an error of its own."""


@contextlib.contextmanager
def one_record(limits: RecordLimits):
    """Every error inside is a BadRecord; so is work that takes too long or needs too much memory. A worker that does not
    even end by an exception, as in a single operation of a library, is killed by SIGVTALRM."""
    running = True

    def ring(*_):
        if running:
            raise OutOfTime
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 * limits.seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)
    try:
        with memory_of_process(limits.memory):
            yield
    except (BadRecord, UserError):
        raise
    except OutOfTime:
        raise BadRecord(f"it takes more than {limits.seconds} seconds (--record-seconds), in the chat template if there "
                        "is one") from None
    except MemoryError:
        raise BadRecord(f"it needs more than {limits.memory >> 20:,} MiB (16 times --record-bytes), in the chat template "
                        "if there is one") from None
    except RecursionError:
        raise BadRecord("it is nested too deeply") from None
    except Exception as error:
        raise BadRecord(f"it cannot be prepared: {first_line(error)}") from error
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def memory_of_process(more: int):
    """The process may use `more` bytes than now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        limit = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + more
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
