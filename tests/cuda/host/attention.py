"""Attention on the device compared with the CPU, for many shapes: CheckAttention.cpp."""

import subprocess

from emulated import OUT, link


def check(folder=OUT / "attention", objects=(), instead_of="") -> tuple[bool, str]:
    folder.mkdir(parents=True, exist_ok=True)
    exe = link(list(objects), folder / "check", "libcuda-host-attention.a",
               instead_of)
    result = subprocess.run([exe], capture_output=True, text=True, timeout=300)
    return result.returncode == 0, "    " + (result.stdout + result.stderr).strip()[-800:]


if __name__ == "__main__":
    print(check())
