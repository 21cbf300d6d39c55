"""Trials of ranks that differ from the others: in a setting, an option, the program, the data or the environment."""

import re
import shutil
import time

from bench import OUT, Bench, free_port, start


def differences(bench: Bench):
    """Possible differences of a rank: a name, the changes to a Rank, and the expected message."""
    set_ = lambda value: {"more": ["--set", value]}  # noqa: E731
    return [
        ("rate", set_("optimizer.lr=1e-1"), r"optimizer\.lr: (0\.001 on ranks? .*, 0\.1|0\.1 on ranks? .*, 0\.001) on"),
        ("seed", {"more": ["--seed", "5"]}, r"seed: "),
        ("steps", {"more": ["--steps", "41"]}, r"steps: "),
        ("stop", {"more": ["--stop-at", "7"]}, r"--stop-at: "),
        ("every", set_("checkpoint.every=7"), r"checkpoint\.every: "),
        ("out", {"out": "elsewhere"}, r"--out: "),
        ("resume", {"more": ["--resume", "none"]}, r"--resume: "),
        ("check", {"more": ["--check-replicas"]}, r"--check-replicas: "),
        ("log", {"more": ["--log-every", "3"]}, r"--log-every: |given twice|more than once"),
        ("dry", {"more": ["--dry-run"]}, r"--dry-run: "),
        ("weights", {"more": ["--init-from", str(bench.other)]}, r"--init-from: "),
        ("config", {"more": ["--config", str(bench.config)]}, r"optimizer\.lr: "),
        ("no config", {"more": ["--config", "none.toml"]}, r"none\.toml"),
        ("unknown setting", set_("optimizer.rate=1"), r"optimizer\.rate"),
        ("unknown option", {"more": ["--stesp", "3"]}, r"--stesp"),
        ("data", {"data": bench.other}, r"data\.path: 20000 bytes, CRC-32C .* 20000 bytes"),
        ("shorter data", {"data": bench.short}, r"data\.path: (20000|19000) bytes"),
        ("no data", {"data": "none.txt"}, r"data\.path: .*No such file"),
        ("scaled program", {"exe": "scaled"}, r"compiled program: "),
        ("decay program", {"exe": "decay"}, r"compiled program: |optimizer\.weight_decay: "),
        ("wide program", {"exe": "wide"}, r"compiled program: .*parameters: "),
        ("tp program", {"exe": "tp"}, r"program: |cannot start"),
        ("transport", {"variables": {"TITAN_COMM": "gloo"}}, r"TITAN_COMM: "),
        ("unknown transport", {"variables": {"TITAN_COMM": "fast"}}, r"TITAN_COMM is 'fast'"),
        ("machine", {"variables": {"LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}}, r"LOCAL_WORLD_SIZE: "),
        ("size", {"variables": {"WORLD_SIZE": "6", "LOCAL_WORLD_SIZE": "6"}}, r"WORLD_SIZE: |cannot start"),
        ("kernels", {"variables": {"TITAN_F32": "blas"}}, r"TITAN_F32: "),
        ("kernels of attention", {"variables": {"TITAN_ATTENTION": "own"}}, r"TITAN_ATTENTION: "),
    ]


HARMLESS = [("another spelling", {"more": ["--set", "optimizer.lr=1.0e-3", "--set",
                                           "optimizer.betas=[0.90, 0.999]"]}),
            ("threads", {"variables": {"TITAN_NUM_THREADS": "2"}}),
            ("timeouts", {"variables": {"TITAN_COMM_TIMEOUT": "30", "TITAN_CONNECT_TIMEOUT": "31"}}),
            ("copy of the data", {"data": "copy"}), ("copy of the program", {"exe": "copied"})]


def try_difference(bench, name, change, words, transport, size, deviants):
    port, out = free_port(), bench.fresh()
    ranks = [start(bench, rank, size, port, out, change if rank in deviants else None,
                   {"TITAN_COMM": transport}) for rank in range(size)]
    begun, faults = time.monotonic(), []
    ends = [rank.end() for rank in ranks]
    took = time.monotonic() - begun
    for rank, (status, output) in enumerate(ends):
        if status not in ((1, 2) if rank in deviants else (1,)):
            faults.append(f"rank {rank} ended with {status}: {output}")
    output = "\n".join(text for _, text in ends)
    if not re.search(words, output):
        faults.append(f"no word of {words}: {output}")
    if took > 15:
        faults.append(f"took {took:.1f} s")
    if out.exists():
        faults.append("it wrote into its folder")
    return faults


def try_harmless(bench, name, change, transport):
    change = dict(change)
    if change.get("data") == "copy":
        change["data"] = bench.copy
    if change.get("exe") == "copied":
        shutil.copy(OUT / "base", OUT / "copied")
    port, out = free_port(), bench.fresh()
    ranks = [start(bench, rank, 2, port, out, change if rank else None, {"TITAN_COMM": transport})
             for rank in range(2)]
    return [f"rank {number} ended with {status}: {output}"
            for number, (status, output) in enumerate(rank.end() for rank in ranks) if status != 0]
