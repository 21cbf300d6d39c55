"""Writers of files: each file that a program or titanc writes is created by base/files/DurableFile.cpp.
Reports every other place in the sources that could create, copy or replace one.

    writers.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["base", "compiler", "dialects", "runtime"]
WRITER = "base/files/DurableFile.cpp"

# What creates, truncates, copies or replaces a file. Opening for reading is no match.
CALLS = {
    "a stream": r"\b(?:std::)?(?:ofstream|fstream|basic_ofstream)\b|\bfreopen\s*\(",
    "fopen": r"\bfopen\s*\((?!.*,\s*\"r[be]*\"\s*\))",
    "open": r"\bO_CREAT\b|\bO_TRUNC\b|\bcreat\s*\(|\bO_TMPFILE\b|\bmkstemps?\s*\(|\bmknod(?:at)?\s*\(",
    "a copy": r"\bcopy_file\s*\(|\bfs::copy\s*\(|\bsendfile\s*\(|\bcopy_file_range\s*\("
              r"|(?<![\w>])::(?:sym)?link(?:at)?\s*\(|\bcreate_(?:hard_|sym)?link\s*\(",
    # Qualified: the sources have functions of this name for other things, which do not touch files.
    "a rename": r"\b(?:std|stdfs|fs|filesystem)::rename\s*\(|(?<![\w>])::rename\s*\(|\brenameat2?\s*\(",
    "LLVM": r"\braw_fd_ostream\b|\braw_fd_stream\b|\bToolOutputFile\b|\bopenOutputFile\b|\bopenFileForWrite\b"
            r"|\bcreateUniqueFile\b|\bcreateTemporaryFile\b|\bFileOutputBuffer\b|\bTempFile\b",
}

# Places that may: each moves what is already on the disk, or is no command of a user.
ALLOWED = {
    ("compiler/driver/Toolchain.cpp", "LLVM"): "the output of a program that is asked for LibTorch, in a file of its own",
    ("compiler/driver/Cache.cpp", "a rename"): "executables of the compiler, in a locked folder, synced",
    ("runtime/lib/checkpoint/CheckpointWriter.cpp", "a rename"): "a checkpoint's folder, synced",
    ("runtime/lib/checkpoint/ExportDirectory.cpp", "a rename"): "synced files of an export, in a locked folder",
    ("runtime/lib/rundir/Archive.cpp", "a rename"): "old results of a run",
}
# Tools of developers write by LLVM's functions.
TOOLS = "compiler/tools/"


def strip_comments(text: str) -> str:
    """Keeps the number of lines."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def find_writers(text: str) -> list[tuple[int, str]]:
    """Lines and kinds of calls."""
    found = []
    for number, line in enumerate(strip_comments(text).splitlines(), 1):
        if line.startswith("#include"):
            continue
        found += [(number, kind) for kind, pattern in CALLS.items() if re.search(pattern, line)]
    return found


def check_sources() -> list[str]:
    faults, used = [], set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in {".cpp", ".h", ".cu", ".cuh", ".inc"} or name == WRITER or name.startswith(TOOLS):
                continue
            lines = path.read_text(errors="replace").splitlines()
            for number, kind in find_writers("\n".join(lines)):
                if (name, kind) in ALLOWED:
                    used.add((name, kind))
                else:
                    faults.append(f"{name}:{number}: {kind}: {lines[number - 1].strip()}")
    return faults + [f"{name}: {kind} is allowed, but not there" for name, kind in ALLOWED.keys() - used]


# Each must be found: a check that finds nothing is none.
MUTANTS = ["std::ofstream out(path);", 'FILE *file = std::fopen(path, "w");', "fopen(path.c_str(), mode)",
           "::open(path, O_WRONLY | O_CREAT, 0644);", "fs::copy_file(from, to);", "std::rename(a, b);",
           "fs::rename(a, b, error);", "if (::rename(a, b) == 0)", "llvm::raw_fd_ostream out(path, error);", "::symlink(a, b);"]
INNOCENT = ["std::ifstream in(path);", 'std::fopen(path, "r")', "::open(path, O_RDONLY | O_CLOEXEC);",
            "// std::ofstream", "collectives->link(a, b);", "value = rename(value, from, to);", "rows.rename();", "Group *Collectives::link(GroupRef axes);"]


def main() -> None:
    faults = [f"not noticed: {line}" for line in MUTANTS if not find_writers(line)]
    faults += [f"no writer: {line}" for line in INNOCENT if find_writers(line)]
    faults += check_sources()
    for fault in faults:
        print(f"error: {fault}")
    if faults:
        print(f"write files by base/files/DurableFile.h, or say in {Path(__file__).name} why not")
    print(f"writers: {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
