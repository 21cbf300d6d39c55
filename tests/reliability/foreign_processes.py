"""Foreign processes at a rendezvous: other jobs, duplicate ranks, foreign clients; and ranks that end."""

import contextlib
import re
import time

from bench import OUT, free_port, start, wait_for
from foreign_clients import HELLOS, Client, connect, listener
from titan import TITANC, call


def try_two_jobs(bench, chance, named):
    """Two jobs at one port: at most one trains, undisturbed."""
    port, outs = free_port(), [bench.fresh(), bench.fresh()]
    starts = [(job, rank) for job in range(2) for rank in range(2)]
    chance.shuffle(starts)
    ranks = {}
    for job, rank in starts:
        variables = {"SLURM_JOB_ID": str(100 + job)} if named else {}
        change = {"more": ["--set", f"optimizer.lr={job + 1}e-3"]}
        ranks[job, rank] = start(bench, rank, 2, port, outs[job], change,
                                 {**variables, "TITAN_CONNECT_TIMEOUT": "6"})
        time.sleep(chance.uniform(0, 0.05))
    ends = {key: rank.end() for key, rank in ranks.items()}
    faults = []
    for job in range(2):
        good = [ends[job, rank][0] == 0 for rank in range(2)]
        if any(good) != all(good):
            faults.append(f"half of job {job} trained: {ends}")
        if not any(good) and outs[job].exists() and (outs[job] / "metrics.jsonl").exists():
            faults.append(f"job {job} began to train: {ends}")
    for key, (status, output) in ends.items():
        if status not in (0, 1, 70):
            faults.append(f"{key} ended with {status}: {output}")
    if not any(re.search("EADDRINUSE|another job|has a rank|the ranks do not run the same", output)
               for _, output in ends.values()):
        faults.append(f"nobody says why: {ends}")
    if named and sum(end[0] == 0 for end in ends.values()) != 2:
        faults.append(f"none of two named jobs trained: {ends}")
    return faults


def try_twice(bench, chance, late):
    """A second rank 1, immediately or during training: it is refused, and the others train."""
    port, out = free_port(), bench.fresh()
    long = {"more": ["--set", "steps=100000", "--stop-at", "60000" if late else "400"]}
    ranks = [start(bench, rank, 2, port, out, long) for rank in ((0, 1) if late else (0, 1, 1))]
    if late:
        wait_for(out / "metrics.jsonl")
        ranks.append(start(bench, 1, 2, port, out, long))
    second = None
    if late:
        second = ranks.pop().end()
        alive = all(rank.process.poll() is None for rank in ranks)
        for rank in ranks:
            rank.kill()
        faults = [] if alive else ["the run ended"]
    else:
        ends = [rank.end() for rank in ranks]
        second = min(ends[1:], key=lambda end: end[0] == 0)
        faults = [] if [end[0] for end in ends].count(0) == 2 else [f"not two ranks trained: {ends}"]
    if second[0] != 1 or not re.search(r"has a rank 1 already, process \d+ on", second[1]):
        faults.append(f"the second ended with {second}")
    return faults


def try_stranger(bench, chance, kind):
    """While rank 0 waits for rank 1, a foreign client connects before rank 1."""
    port, out = free_port(), bench.fresh()
    ranks = [start(bench, 0, 2, port, out)]
    kept = []
    first = connect(port)
    for _ in range(900 if kind == "many" else 3):
        connection = connect(port, 2)
        if not connection:
            return ["rank 0 accepts nobody"]
        kept.append(connection)
        with contextlib.suppress(OSError):
            connection.sendall(HELLOS.get(kind, b""))
    ranks.append(start(bench, 1, 2, port, out))
    ends = [rank.end() for rank in ranks]
    for connection in [first, *kept]:
        connection.close()
    return [f"rank {rank} ended with {status}: {output}"
            for rank, (status, output) in enumerate(ends) if status != 0]


FORGED = {"job": ("job", b"another job"), "garbage record": ("arrival/1", b"\0\xff" * 500),
          "large record": ("arrival/1", b"titan rank record 1\n1\n\n\n\n" + b"a\tb\n" * 1000000),
          "verdict": ("verdict", b"agreed ../../x"), "no verdict": ("verdict", b"\xff\0"),
          "refused": ("verdict", b"refused by a stranger"), "rank": ("rank/1", b"nobody")}


def try_forged(bench, chance, kind):
    """A client writes a key of the agreement before the ranks do. They may end, but in no other way."""
    port, out = free_port(), bench.fresh()
    short = {"TITAN_CONNECT_TIMEOUT": "4"}
    ranks = [start(bench, 0, 2, port, out, variables=short)]
    client = Client(connect(port))
    if kind.startswith("delete"):
        client.delete(kind.split()[1])
    else:
        key, value = FORGED[kind]
        if key.startswith("arrival"):
            client.add("arrivals", 1)
        client.set(key, value)
    begun = time.monotonic()
    ranks.append(start(bench, 1, 2, port, out, variables=short))
    ends = [rank.end() for rank in ranks]
    faults = [f"rank {rank} ended with {status}: {output}"
              for rank, (status, output) in enumerate(ends) if status not in (0, 1, 70)]
    if any(status != 0 and "error: " not in output for status, output in ends[:1]):
        faults.append(f"no reason is given: {ends}")
    if time.monotonic() - begun > 20:
        faults.append(f"took {time.monotonic() - begun:.1f} s")
    return faults


def try_named_file(bench, chance):
    """A client names a user's file where ranks look for shared memory; the file stays unchanged."""
    port, out, precious = free_port(), bench.fresh(), OUT / "precious"
    precious.write_bytes(bytes(range(256)) * 100_000)
    before = precious.read_bytes()
    short = {"TITAN_CONNECT_TIMEOUT": "4", "TITAN_COMM_TIMEOUT": "4"}
    ranks = [start(bench, 0, 2, port, out, variables=short)]
    client = Client(connect(port))
    ranks.append(start(bench, 1, 2, port, out, variables=short))
    with contextlib.suppress(OSError):
        while not client.has("verdict"):
            pass
        nonce = client.get("verdict").decode().split()[-1]
        for _ in range(2000):
            client.set(f"{nonce}/memory/0,1", str(precious).encode())
            client.set(f"{nonce}/memory/0,1/1/connected", b"yes")
    ends = [rank.end() for rank in ranks]
    faults = [f"ended with {status}: {output}" for status, output in ends if status not in (0, 1, 70)]
    if precious.read_bytes() != before:
        faults.append("the file was written to")
    return faults


def try_listener(bench, chance, kind):
    """Rank 1 alone, with another program at the port, or with an invalid host name."""
    seconds, out = 3, bench.fresh()
    variables = {"TITAN_CONNECT_TIMEOUT": str(seconds)}
    if kind in ("silent", "http", "closes"):
        with listener(kind) as port:
            rank, address = start(bench, 1, 2, port, out, variables=variables), f"127.0.0.1:{port}"
            status, output = rank.end(seconds + 10)
    else:
        rank = start(bench, 1, 2, 29512, out, variables={**variables, "MASTER_ADDR": kind})
        address = kind
        status, output = rank.end(seconds + 10)
    faults = [] if status == 70 else [f"ended with {status}: {output}"]
    if address not in output:
        faults.append(f"{address} is not named: {output}")
    if time.monotonic() - rank.begun > seconds + 3:
        faults.append(f"took {time.monotonic() - rank.begun:.1f} s of {seconds}")
    return faults


def try_first_cause(bench, chance, transport, fate, victim):
    """One of four ranks, in groups of two, is killed or stopped while they train: the others name it, and so do the
    flight records."""
    port, out = free_port(), bench.fresh()
    variables = {"TITAN_COMM": transport, "TITAN_COMM_TIMEOUT": "2"}
    ranks = [start(bench, rank, 4, port, out, variables=variables, exe="mesh") for rank in range(4)]
    wait_for(out / "metrics.jsonl", 40)
    time.sleep(chance.uniform(0.1, 0.5))
    ranks[victim].process.send_signal(fate)
    ends = [rank.end(30) if number != victim else None for number, rank in enumerate(ranks)]
    ranks[victim].kill()
    report = call([TITANC, "flight", out])
    words = f"rank {victim} (is gone|did not come)"
    if victim == 0:
        words += "|rank 0 or its launcher does not answer"
    faults = [f"rank {rank} ended with {end[0]} and does not name rank {victim}: {end[1]}"
              for rank, end in enumerate(ends)
              if end and (end[0] != 70 or not re.search(words, end[1]))]
    first = re.search(r"^rank (\d+): step", report, re.M)  # its record ends first, or others miss it
    return faults + ([] if first and int(first[1]) == victim else [f"the flight records do not name it: {report}"])
