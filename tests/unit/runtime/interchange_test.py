"""Checkpoints of torch.distributed.checkpoint, read without executing their pickles; and Titan's, read by it."""

import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

from program import ProgramCase, main

SAVE = r"""
import os, sys, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from safetensors.torch import load_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, Replicate, distribute_tensor
rank, source, out, dtype = int(sys.argv[1]), *sys.argv[2:5]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{out}.store", rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,))
tensors = load_file(source)
state = {}
for number, (name, value) in enumerate(sorted(tensors.items())):
    value = value.to(getattr(torch, dtype))
    if value.dim() == 2:
        value = value.t().contiguous().t()  # strides that are not those of rows
    along = Shard(value.dim() - 1) if number % 2 else Shard(0)
    state[name] = distribute_tensor(value, mesh, [along if number % 3 else Replicate()])
dcp.save({**state, "optimizer": {"step": rank, "rate": 0.5}}, checkpoint_id=out)
dist.destroy_process_group()
"""

READ = r"""
import sys, torch, torch.distributed.checkpoint as dcp
from pathlib import Path
from safetensors import safe_open
from torch.distributed.checkpoint import HuggingFaceStorageReader
folder = sys.argv[1]
expected = {}
for path in Path(folder).glob("*.safetensors"):
    with safe_open(path, "pt") as file:
        expected.update({name: file.get_tensor(name) for name in file.keys()})
state = {name: torch.empty_like(value) for name, value in expected.items()}
dcp.load(state, storage_reader=HuggingFaceStorageReader(folder))
assert expected and all(torch.equal(state[name], value) for name, value in expected.items())
"""

LOAD = r"""
import pickletools, sys, torch, torch.distributed.checkpoint as dcp
from pathlib import Path
from safetensors.torch import load_file
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
folder, source = Path(sys.argv[1]), sys.argv[2]
given = load_file(source)
state = {name: torch.empty_like(value) for name, value in given.items()}
dcp.load(state, checkpoint_id=folder)
assert given and all(torch.equal(state[name], value) for name, value in given.items())
whole = folder.with_suffix(".pt")
dcp_to_torch_save(folder, whole)
found = torch.load(whole, weights_only=True)
assert found.keys() == given.keys() and all(torch.equal(found[name], value) for name, value in given.items())
named = {argument for code, argument, _ in pickletools.genops((folder / ".metadata").read_bytes()) if code.name == "GLOBAL"}
assert all(name.startswith(("torch ", "torch.serialization _get_layout", "torch.distributed.checkpoint.")) for name in named), named
"""

LOAD_SHARDED = r"""
import sys, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from safetensors.torch import load_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
rank, folder, source = int(sys.argv[1]), *sys.argv[2:4]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}.store", rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,))
given = {name: value.to(torch.bfloat16) for name, value in sorted(load_file(source).items())}
state = {name: distribute_tensor(torch.zeros_like(value), mesh, [Shard(number % value.dim())])
         for number, (name, value) in enumerate(given.items())}
dcp.load(state, checkpoint_id=folder)
for name, value in given.items():
    assert torch.equal(state[name].full_tensor(), value), name
dist.destroy_process_group()
"""

COMPARE = r"""
import sys, torch
from safetensors.torch import load_file
found, given = load_file(sys.argv[1]), load_file(sys.argv[2])
assert found.keys() == given.keys()
for name, value in found.items():
    assert torch.equal(value, given[name].to(getattr(torch, sys.argv[3])).to(value.dtype)), name
"""


def python(code: str, *arguments) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


class Planted:
    """Its pickle creates a file when it is executed."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


class InterchangeTest(ProgramCase):
    def finish(self, *processes):
        for process in processes:
            output, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, output)

    def save(self, weights: Path, dtype: str) -> Path:
        out = self.folder / f"dcp-{dtype}"
        self.finish(*(python(SAVE, rank, weights, out, dtype) for rank in range(2)))
        return out

    def test_reads_directories(self):
        """Tensors in pieces, of two ranks, along different dimensions; f64 is read at once, bf16 when it is used."""
        run, _ = self.train("run", "--steps", 3)
        weights = run / "model.safetensors"
        for dtype in ("float64", "bfloat16"):
            saved = self.save(weights, dtype)
            initial = self.folder / f"{dtype}.safetensors"
            self.train(f"from-{dtype}", "--init-from", saved, "--steps", 1, "--save-initial", initial)
            self.finish(python(COMPARE, initial, weights, dtype))
        self.check_hostile(saved)

    def check_hostile(self, saved: Path):
        """Metadata that name a function, and damaged ones: an error with the file's name, nothing executed."""
        hostile, planted = self.folder / "hostile", self.folder / "planted"
        shutil.copytree(saved, hostile)
        metadata = hostile / ".metadata"
        content = metadata.read_bytes()

        def refused() -> str:
            _, err = self.run_exe("--data", self.text, "--out", self.folder / "refused", "--init-from", hostile,
                                  "--steps", 1, status=1)
            self.assertIn("hostile", err)
            return err

        metadata.write_bytes(pickle.dumps({"state_dict_metadata": Planted(planted)}))
        self.assertRegex(refused(), r"names the function or class `(posix|os)\.system`.*nothing was executed")
        chance = random.Random(1)
        for _ in range(6):
            metadata.write_bytes(content[:chance.randrange(len(content))])
            refused()
        metadata.write_bytes(content.replace(b"__0_0.distcp", b"/etc/passwd2"))
        self.assertIn("is no name of a file", refused())
        metadata.write_bytes(content)
        for path in hostile.glob("*.distcp"):
            path.write_bytes(path.read_bytes()[:2000])
        refused()
        self.assertFalse(planted.exists())

    def test_is_read_by_pytorch(self):
        run, _ = self.train("run", "--steps", 4, "--set", "checkpoint.every=2", ranks=2)
        self.finish(python(READ, run / "checkpoints/step-4"))

    def test_writes_directories(self):
        """PyTorch loads them bit for bit, whole or as shards of two ranks, and so does Titan; also over an earlier one; a directory with other files is refused."""
        run, _ = self.train("run", "--steps", 3)
        weights, written = run / "model.safetensors", self.folder / "written"
        for kind, ranks in (("f64", 1), ("bf16", 2)):
            self.run_exe("export", "--init-from", run, "--dcp", written, "--dtype", kind, ranks=ranks)
            self.finish(*([python(LOAD, written, weights)] if ranks == 1 else
                          [python(LOAD_SHARDED, rank, written, weights) for rank in range(2)]))
            self.assertEqual([path.name for path in sorted(written.iterdir())], [".metadata", "__0_0.distcp"])
        initial = self.folder / "initial.safetensors"
        self.train("from-written", "--init-from", written, "--steps", 1, "--save-initial", initial)
        self.finish(python(COMPARE, initial, weights, "bfloat16"))
        (written / "notes.txt").write_text("mine")
        _, err = self.run_exe("export", "--init-from", run, "--dcp", written, status=1)
        self.assertIn("has files that are not of a checkpoint of PyTorch: 'notes.txt'", err)


main()
