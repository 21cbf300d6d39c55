"""Worker processes. Results come in the order of the tasks, whatever the number of workers; so do errors."""

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator

from titan_prepare.errors import UserError

AHEAD = 2  # tasks per worker that may be begun before the first unfinished one is done


def run_in_order(make_worker: Callable, job, tasks: list, count: int, progress: Callable,
                 survive: Callable) -> Iterator[tuple]:
    """Pairs of a task and its result. A worker is `make_worker(job)`, called with a task and a function `progress`,
    whose calls are repeated here. The first error, in the order of the tasks, ends the iteration. If a worker is killed,
    `survive(job, task, exit status)` gives the task for a new one, or raises the error."""
    pool = WorkerPool(make_worker, job, min(count, len(tasks)), survive)
    try:
        yield from pool.run(tasks, progress)
    finally:
        pool.stop()


class WorkerPool:
    """Worker processes. `idle` lists the connections to those without a task, `busy` maps the others to their tasks."""

    def __init__(self, make_worker: Callable, job, count: int, survive: Callable):
        self.make_worker, self.job, self.survive = make_worker, job, survive
        self.processes, self.idle, self.busy = {}, [], {}
        for _ in range(count):
            self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")  # libraries have threads, which a fork would not copy
        connection, worker_end = context.Pipe()
        process = context.Process(target=serve, args=(worker_end, self.make_worker, self.job), daemon=True)
        process.start()
        worker_end.close()
        self.processes[connection] = process
        self.idle.append(connection)

    def run(self, tasks: list, progress: Callable) -> Iterator[tuple]:
        tasks = list(tasks)
        given, taken, done, failed = 0, 0, {}, {}
        while taken < len(tasks):
            while self.idle and given < len(tasks) and not failed and given < taken + AHEAD * len(self.processes):
                self.give(given, tasks[given])
                given += 1
            for worker in multiprocessing.connection.wait(list(self.busy)):
                self.receive(worker, tasks, done, failed, progress)
            while taken in done:
                yield tasks[taken], done.pop(taken)
                taken += 1
            if taken in failed:
                raise UserError(failed[taken])

    def give(self, number: int, task) -> None:
        worker = self.idle.pop()
        self.busy[worker] = number
        with contextlib.suppress(ConnectionError):  # it was killed; `receive` will see it
            worker.send((number, task))

    def receive(self, worker, tasks: list, done: dict, failed: dict, progress: Callable) -> None:
        number = self.busy[worker]
        try:
            kind, value = worker.recv()
        except (EOFError, ConnectionError):
            return self.replace(worker, tasks, failed)
        if kind == "progress":
            return progress(*value)
        del self.busy[worker]
        if kind == "done":
            done[number] = value
            self.idle.append(worker)
        else:
            failed[number] = value

    def replace(self, worker, tasks: list, failed: dict) -> None:
        """Another worker for the task of one that was killed."""
        number, process = self.busy.pop(worker), self.processes.pop(worker)
        process.join()
        worker.close()
        try:
            tasks[number] = self.survive(self.job, tasks[number], process.exitcode)
        except UserError as error:
            failed[number] = str(error)
            return
        self.start()
        self.give(number, tasks[number])

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
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
            result = ("failed", f"{error.filename or 'the unfinished output'}: {error.strerror or error}")
        except MemoryError:
            result = ("failed", "not enough memory; fewer --workers need less")
        except BaseException:  # Rust libraries panic with a BaseException
            result = ("failed", f"a bug in titan-prepare or one of its libraries:\n{traceback.format_exc()}")
        connection.send(result)


def end_with_parent() -> None:
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
