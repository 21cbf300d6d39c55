"""Whether `titanc schedule FILE` and `titanc info FILE --json` report equal memory and FLOPs of stages:
same_stages.py SCHEDULE INFO, with files of both outputs."""
import json
import sys

lines = [line.split() for line in open(sys.argv[1])]
info = json.load(open(sys.argv[2]))


def rows(head: list[str]) -> list[list[str]]:
    begin = next(i for i, line in enumerate(lines) if line[:len(head)] == head) + 1
    end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
    return lines[begin:end]


memory = [int(row[-1].replace(",", "")) for row in rows(["rank", "stages"])]
assert memory == [stage["total"] for stage in info["memory"]["stages"]], memory
flops = [[int(number.replace(",", "")) for number in row[3:5]] for row in rows(["stage", "rank"])]
assert flops == [[round(stage["forward_flops"]), round(stage["backward_flops"])] for stage in info["stages"]], flops
assert all(number > 0 for row in flops for number in row), flops
