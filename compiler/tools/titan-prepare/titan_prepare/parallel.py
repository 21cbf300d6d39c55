"""Worker processes. Results come in the order of the tasks, whatever the number of workers; so do errors."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator

from titan_prepare.errors import UserError

AHEAD = 2  # tasks per worker that may be begun before the first unfinished one is done


def run_in_order(make_worker: Callable, job, tasks: list, count: int, progress: Callable) -> Iterator[tuple]:
    """Pairs of a task and its result. A worker is `make_worker(job)`, called with a task and a function `progress`,
    whose calls are repeated here. The first error, in the order of the tasks, ends the iteration."""
    pool = WorkerPool(make_worker, job, min(count, len(tasks)))
    try:
        yield from pool.run(tasks, progress)
    finally:
        pool.stop()


class WorkerPool:
    """Worker processes. `idle` lists the connections to those without a task, `busy` maps the others to their tasks."""

    def __init__(self, make_worker: Callable, job, count: int):
        context = multiprocessing.get_context("spawn")  # libraries have threads, which a fork would not copy
        self.processes, self.idle, self.busy = [], [], {}
        for _ in range(count):
            connection, worker_end = context.Pipe()
            process = context.Process(target=serve, args=(worker_end, make_worker, job), daemon=True)
            process.start()
            worker_end.close()
            self.processes.append(process)
            self.idle.append(connection)

    def run(self, tasks: list, progress: Callable) -> Iterator[tuple]:
        given, taken, done, failed = 0, 0, {}, {}
        while taken < len(tasks):
            while self.idle and given < len(tasks) and not failed and given < taken + AHEAD * len(self.processes):
                worker = self.idle.pop()
                worker.send((given, tasks[given]))
                self.busy[worker] = given
                given += 1
            for worker in multiprocessing.connection.wait(list(self.busy)):
                self.receive(worker, done, failed, progress)
            while taken in done:
                yield tasks[taken], done.pop(taken)
                taken += 1
            if taken in failed:
                raise UserError(failed[taken])

    def receive(self, worker, done: dict, failed: dict, progress: Callable) -> None:
        number = self.busy[worker]
        try:
            kind, value = worker.recv()
        except (EOFError, ConnectionError):
            kind, value = "failed", "a worker process was killed; the system's log may say why (memory?)"
        if kind == "progress":
            return progress(*value)
        del self.busy[worker]
        if kind == "done":
            done[number] = value
            self.idle.append(worker)
        else:
            failed[number] = value

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()


def serve(connection, make_worker: Callable, job) -> None:
    """A worker process, until it is terminated or its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=end_with_parent, daemon=True).start()
    worker = None
    while True:
        number, task = connection.recv()
        try:
            worker = worker or make_worker(job)
            result = ("done", worker(task, lambda *counts: connection.send(("progress", counts))))
        except UserError as error:
            result = ("failed", str(error))
        except OSError as error:
            result = ("failed", f"{error.filename or 'a file'}: {error.strerror or error}")
        except MemoryError:
            result = ("failed", "not enough memory; fewer --workers need less")
        except BaseException:  # Rust libraries panic with a BaseException
            result = ("failed", f"a bug in titan-prepare or one of its libraries:\n{traceback.format_exc()}")
        connection.send(result)


def end_with_parent() -> None:
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
