"""The models of the benchmark: a Titan program and the same model for PyTorch."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    program: Path  # a .titan file with one run
    peer: str  # module in peers/; its class of the same name, capitalised, is the model
    sizes: dict  # arguments of the module's Sizes
    batch: int
    seq: int
    rate: float  # the peak learning rate

    @property
    def tokens(self) -> int:
        return self.batch * self.seq


CASES = {
    "debug": Case(ROOT / "examples" / "llama3_debug.titan", "llama",
                  dict(layers=6, embed=256, heads=16, kv_heads=16, ffn=768, vocab=256), 8, 256, 8e-4),
    "gpt2": Case(ROOT / "bench" / "programs" / "gpt2_124m.titan", "gpt2",
                 dict(layers=12, embed=768, heads=12, vocab=50257, context=1024), 2, 512, 6e-4),
    "llama": Case(ROOT / "bench" / "programs" / "llama_134m.titan", "llama",
                  dict(layers=12, embed=768, heads=12, kv_heads=12, ffn=2048, vocab=32000), 2, 512, 8e-4),
}
