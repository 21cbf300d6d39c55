"""Weights that other software stored in few bits: read, and exported as numbers.

    quantized.py [-v] [NAME...]

A tiny Llama of `transformers` in bf16, whose projections are replaced by quantized ones of each form, written by the
definitions of the forms in plain PyTorch. The program of `titanc import` exports the weights: each number is the one that
the definition gives, rounded once, and `config.json` has no `quantization_config`. Experts of gpt-oss in mxfp4 equal what
the code of transformers makes of them.
"""

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity")]

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from titan import BUILD, QUICK, TITANC, Report, call, environment_of, lock_product, read_arguments  # noqa: E402

OUT = BUILD / "tests" / "quantized"
CONFIG = transformers.LlamaConfig(vocab_size=256, hidden_size=160, num_hidden_layers=2, num_attention_heads=4,
                                  num_key_value_heads=2, intermediate_size=192, head_dim=40, max_position_embeddings=64)
GPT_OSS = transformers.GptOssConfig(vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, head_dim=16,
                                    num_key_value_heads=2, intermediate_size=96, num_local_experts=3, num_experts_per_tok=2)


def fp8_blocks(weight: torch.Tensor, name: str, block: int = 128):
    """DeepSeek-V3: a scale for each block of 128 x 128."""
    rows, columns = (-(-size // block) for size in weight.shape)
    scale = torch.empty(rows, columns)
    stored = torch.empty(weight.shape, dtype=torch.float8_e4m3fn)
    expected = torch.empty(weight.shape)
    for i in range(rows):
        for j in range(columns):
            part = (slice(i * block, (i + 1) * block), slice(j * block, (j + 1) * block))
            scale[i, j] = weight[part].abs().max() / 448
            stored[part] = (weight[part] / scale[i, j]).to(torch.float8_e4m3fn)
            expected[part] = stored[part].float() * scale[i, j]
    return {name: stored, f"{name}_scale_inv": scale}, expected.bfloat16()


def fp8_rows(weight: torch.Tensor, name: str):
    """compressed-tensors: a scale for each row."""
    scale = (weight.abs().amax(1, keepdim=True) / 448).bfloat16()
    stored = (weight / scale.float()).to(torch.float8_e4m3fn)
    return {name: stored, f"{name}_scale": scale}, (stored.float() * scale.float()).bfloat16()


def bits_of(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """Integers packed along the last dimension into words of 32 bits, the first in the lowest bits."""
    grouped = numbers.long().reshape(*numbers.shape[:-1], -1, 32 // bits)
    words = sum(grouped[..., k] << (bits * k) for k in range(32 // bits))
    return torch.where(words >= 2**31, words - 2**32, words).int()


def groups_of(weight: torch.Tensor, bits: int, group: int):
    """Asymmetric integers of `weight` [outputs, inputs] by groups of inputs: numbers, zeros and scales by group."""
    outputs, inputs = weight.shape
    grouped = weight.reshape(outputs, inputs // group, group)
    low, high = grouped.amin(2), grouped.amax(2)
    scale = ((high - low).clamp(min=1e-4) / (2**bits - 1)).half()
    zero = (-low / scale.float()).round().clamp(1, 2**bits - 1)
    numbers = (grouped / scale.float()[..., None] + zero[..., None]).round().clamp(0, 2**bits - 1)
    expected = ((numbers - zero[..., None]) * scale.float()[..., None]).reshape(outputs, inputs).half()
    return numbers.reshape(outputs, inputs), zero, scale, expected


def awq(weight: torch.Tensor, name: str, group: int = 32):
    """Four bits, outputs of a word in the order 0, 2, 4, 6, 1, 3, 5, 7."""
    numbers, zero, scale, expected = groups_of(weight, 4, group)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    mixed = lambda matrix: bits_of(matrix.reshape(matrix.shape[0], -1, 8)[:, :, order].reshape(matrix.shape), 4)  # noqa: E731
    stem = name.removesuffix(".weight")
    return {f"{stem}.qweight": mixed(numbers.T), f"{stem}.qzeros": mixed(zero.T),
            f"{stem}.scales": scale.T.contiguous()}, expected


def gptq(weight: torch.Tensor, name: str, bits: int = 4, group: int = 32):
    """Integers along the inputs, in any order of groups, and zeros less one."""
    numbers, zero, scale, _ = groups_of(weight, bits, group)
    order = torch.randperm(weight.shape[1], generator=torch.Generator().manual_seed(1))
    groups = (torch.arange(weight.shape[1]) // group)[order]
    expected = ((numbers - zero[:, groups]) * scale.float()[:, groups]).half()
    stem = name.removesuffix(".weight")
    return {f"{stem}.qweight": bits_of(numbers, bits).T.contiguous(), f"{stem}.qzeros": bits_of(zero.T - 1, bits),
            f"{stem}.scales": scale.T.contiguous(), f"{stem}.g_idx": groups.int()}, expected


NF4 = torch.tensor([-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0, 0.0795803,
                    0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.5626170, 0.72295684, 1.0])


def nf4(weight: torch.Tensor, name: str, nested: bool = False):
    """bitsandbytes: blocks of 64 with the nearest of sixteen numbers; with `nested`, scales in eight bits."""
    blocks = weight.reshape(-1, 64)
    absmax = blocks.abs().amax(1)
    extra = {}
    state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": list(weight.shape)}
    if nested:
        code, offset = torch.linspace(-1, 1, 256), absmax.mean()
        outer = torch.nn.functional.pad(absmax - offset, (0, -len(absmax) % 256)).reshape(-1, 256).abs().amax(1)
        index = ((absmax - offset)[:, None] / outer.repeat_interleave(256)[:len(absmax), None] - code).abs().argmin(1)
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": float(offset)}
        extra = {f"{name}.nested_absmax": outer, f"{name}.nested_quant_map": code}
        stored = index.to(torch.uint8)
        absmax = code[index] * outer.repeat_interleave(256)[:len(absmax)] + offset
    else:
        stored = absmax
    index = (blocks / absmax[:, None] - NF4[:, None, None]).abs().argmin(0)
    pairs = index.reshape(-1, 2)
    text = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
    tensors = {name: (pairs[:, 0] << 4 | pairs[:, 1]).to(torch.uint8)[:, None], f"{name}.absmax": stored,
               f"{name}.quant_map": NF4.clone(), f"{name}.quant_state.bitsandbytes__nf4": text, **extra}
    return tensors, (NF4[index] * absmax[:, None]).reshape(weight.shape).bfloat16()


def int8(weight: torch.Tensor, name: str):
    """bitsandbytes: eight bits with a scale for each row."""
    scale = weight.abs().amax(1)
    stored = (weight * 127 / scale[:, None]).round().to(torch.int8)
    return ({name: stored, name.removesuffix("weight") + "SCB": scale},
            (stored.float() * (scale / 127)[:, None]).half())


FORMS = {"fp8 blocks": (fp8_blocks, "fp8"), "fp8 rows": (fp8_rows, "compressed-tensors"), "awq": (awq, "awq"),
         "gptq": (gptq, "gptq"), "gptq 8": (partial(gptq, bits=8), "gptq"), "nf4": (nf4, "bitsandbytes"),
         "nf4 nested": (partial(nf4, nested=True), "bitsandbytes"), "int8": (int8, "bitsandbytes")}


def make(config, folder: Path) -> None:
    """A directory in bf16, and the program that is imported from it."""
    with lock_product(folder):
        if not folder.exists():
            torch.manual_seed(5)
            config._experts_implementation = "eager"
            transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16).save_pretrained(folder)
            source = folder.parent / f"{folder.name}.titan"
            call([TITANC, "import", folder, "-o", source])
            call([TITANC, "build", source, "-o", folder.parent / f"{folder.name}-program", *QUICK, "--set", "data.seq=16"])


def requantize(folder: Path, to: Path, method: str, quantize, chosen) -> dict[str, torch.Tensor]:
    """Writes the directory with quantized tensors. Returns the tensors that they mean."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    tensors, expected = {}, {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        if chosen(name):
            parts, expected[name] = quantize(tensor.float(), name)
            tensors |= {n: t.contiguous() for n, t in parts.items()}
        else:
            tensors[name] = expected[name] = tensor
    save_file(tensors, to / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (to / "config.json").write_text(json.dumps({**config, "quantization_config": {"quant_method": method}}))
    return expected


def compare(program: Path, folder: Path, out: Path, expected: dict[str, torch.Tensor]):
    shutil.rmtree(out, ignore_errors=True)
    call([TITANC, "import", folder])  # the shapes of quantized tensors are no mistakes
    call([program, "export", "--init-from", folder, "--hf", out], env=environment_of({}))
    ours = {name: t for file in out.glob("*.safetensors") for name, t in load_file(file).items()}
    wrong = [name for name in sorted(ours.keys() | expected.keys())
             if name not in ours or name not in expected or ours[name].dtype != expected[name].dtype
             or not torch.equal(ours[name], expected[name])]
    stays = "quantization_config" in json.loads((out / "config.json").read_text())
    details = [f"{name}: {(ours[name].float() - expected[name].float()).abs().max()}" if name in ours and name in expected else name
               for name in wrong[:5]]
    return not wrong and not stays, f"    differ: {details}; quantization_config stays: {stays}"


def linear(name: str):
    quantize, method = FORMS[name]
    folder = OUT / "llama"
    make(CONFIG, folder)
    to = OUT / name.replace(" ", "-")
    expected = requantize(folder, to, method, quantize, lambda n: n.endswith("_proj.weight"))
    return compare(OUT / "llama-program", to, OUT / f"{to.name}-exported", expected)


def mxfp4():
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
    folder, to = OUT / "gpt-oss", OUT / "mxfp4"
    make(GPT_OSS, folder)

    def quantize(weight, name):
        experts, inputs, outputs = weight.shape
        chance = torch.Generator().manual_seed(len(name))
        blocks = torch.randint(0, 256, (experts, outputs, inputs // 32, 16), dtype=torch.uint8, generator=chance)
        scales = torch.randint(110, 130, (experts, outputs, inputs // 32), dtype=torch.uint8, generator=chance)
        return {f"{name}_blocks": blocks, f"{name}_scales": scales}, convert_moe_packed_tensors(blocks, scales).contiguous()

    expected = requantize(folder, to, "mxfp4", quantize, lambda n: n.endswith("_proj") and "experts" in n)
    return compare(OUT / "gpt-oss-program", to, OUT / "mxfp4-exported", expected)


def unknown():
    folder, to = OUT / "llama", OUT / "unknown"
    make(CONFIG, folder)
    requantize(folder, to, "hqq", None, lambda n: False)
    done = subprocess.run([TITANC, "import", to], capture_output=True, text=True)
    return done.returncode == 1 and "quantized by `hqq`, which programs do not read" in done.stderr, done.stderr


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    report = Report()
    report.cases([*((name, partial(linear, name)) for name in FORMS), ("mxfp4", mxfp4), ("unknown form", unknown)], arguments.names)
    report.end()


if __name__ == "__main__":
    main()
