"""Models of ONNX that `titanc export` writes for decoders of every family, run by ONNX Runtime.

    onnx_models.py [-v] [--all] [--keep] [NAME...]

`transformers` makes the models of families/ in float64 (imported.py). `titanc export --onnx` translates the imported program:

- *model*: onnx.checker accepts it with full_check.
- *logits*: for two texts of a length that no program was compiled for, they are those of `transformers` to 1e-5.
- *greedy text*: 50 tokens equal those of `transformers`, with caches and without.
- *caches*: the model has them where the program has.

Without --all, each commit tests one of 24 models (sample_by_commit).
"""

import shutil
import sys
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent)]

try:
    import onnx
    import onnxruntime
except ImportError:
    print("skipped: without the Python packages onnx and onnxruntime (scripts/setup --tests installs them)")
    sys.exit(0)

import numpy  # noqa: E402
import torch  # noqa: E402
from huggingface.imported import CASES, make, source_of, their_logits  # noqa: E402
from titan import BUILD, TITANC, Report, call, read_arguments, sample_by_commit  # noqa: E402

OUT = BUILD / "tests" / "onnx"
TOKENS, PROMPT, BOUND = 50, 9, 1e-5
NAMES = [name for name, case in CASES.items() if not case.part and not case.base]  # exports have the names of whole models

# Models that fail, which the sample of a commit leaves out.
KNOWN = {
    "gemma4": "logits are 1.1e-5 apart", "mamba2-odd": "1.0e-5", "minicpm3-wide": "1.1e-5 of 33.7", "qwen3-5": "1.1e-5",
    "qwen3-next": "1.1e-5", "deepseek-v32-odd": "another text after 9 tokens",
    "llama-longrope": "rotations change with the length, so that there are no caches", "phi3-part": "likewise",
    "phimoe-longrope": "likewise, and logits differ",
}


@cache
def export(name: str, *options: str) -> Path:
    """The directory of the model and its weights."""
    _, weights = make(name)
    folder = OUT / "-".join((name, *(option.strip("-") for option in options)))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(weights, folder)
    (folder / "notes").write_text(call([TITANC, "export", source_of(name), "--onnx", folder, *options]))
    return folder


class Model:
    """A session of ONNX Runtime."""

    def __init__(self, folder: Path):
        path = str(folder / "model.onnx")
        onnx.checker.check_model(path, full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = {info.name: info for info in self.session.get_inputs()}
        self.outputs = [info.name for info in self.session.get_outputs()]
        self.has_caches = any(name.startswith("past.") for name in self.inputs)
        length = self.inputs["input_ids"].shape[1]
        self.length = length if isinstance(length, int) else None  # None: any

    def begin(self, texts: int) -> dict[str, numpy.ndarray]:
        """Caches without positions."""
        sizes = {"samples": texts, "past_sequence": 0}
        types = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64}
        return {name: numpy.zeros([sizes.get(size, size) for size in info.shape], types[info.type])
                for name, info in self.inputs.items() if name.startswith("past.")}

    def run(self, tokens: numpy.ndarray, caches: dict[str, numpy.ndarray]):
        """The logits of the tokens, and the caches after them."""
        count = tokens.shape[1]
        if self.length:  # later tokens change nothing
            tokens = numpy.pad(tokens, ((0, 0), (0, self.length - count)))
        results = dict(zip(self.outputs, self.session.run(None, {"input_ids": tokens, **caches}), strict=True))
        return results.pop("logits")[:, :count], {key.replace("present.", "past."): value for key, value in results.items()}


@cache
def load(name: str, *options: str) -> Model:
    return Model(export(name, *options))


def draw(name: str, texts: int, count: int) -> torch.Tensor:
    model, _ = make(name)
    most = min(model.config.get_text_config().vocab_size, 256)
    return torch.randint(0, most, (texts, count), generator=torch.Generator().manual_seed(5))


def logits(name: str, *options: str):
    ours = load(name, *options)
    tokens = draw(name, 2 if ours.inputs["input_ids"].shape[0] == "samples" else 1, ours.length or 29)
    theirs = their_logits(make(name)[0], tokens).numpy()
    first = 17 if ours.has_caches else tokens.shape[1]
    computed, caches = ours.run(tokens.numpy()[:, :first], ours.begin(len(tokens)))
    if ours.has_caches:
        computed = numpy.concatenate([computed, ours.run(tokens.numpy()[:, first:], caches)[0]], axis=1)
    error = numpy.abs(computed - theirs).max()
    return bool(error <= BOUND), f"    error {error:.1e} of logits up to {numpy.abs(theirs).max():.2f}"


@cache
def their_text(name: str) -> list[int]:
    model, tokens = make(name)[0], draw(name, 1, PROMPT)
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", PROMPT + TOKENS)
    for _ in range(min(TOKENS, longest - PROMPT)):
        tokens = torch.cat([tokens, their_logits(model, tokens)[:, -1:].argmax(-1)], dim=1)
    return tokens[0].tolist()


def greedy(name: str, *options: str):
    model = load(name, *options)
    tokens, caches = draw(name, 1, PROMPT).numpy(), model.begin(1)
    new = tokens
    for _ in their_text(name)[PROMPT:]:
        result, caches = model.run(new if model.has_caches else tokens, caches)
        new = result[:, -1:].argmax(-1)
        tokens = numpy.concatenate([tokens, new], axis=1)
    return tokens[0].tolist() == their_text(name), f"    {tokens[0].tolist()}\n    {their_text(name)}"


def check(name: str):
    """All checks of one model."""
    case = CASES[name]
    # Rotations of some models change with the length: a model of one length is compared at this length.
    is_of_one_length = case.decodes and load(name).length is not None
    runs = (logits, greedy) if case.generates and not is_of_one_length else (logits,)
    results = [run(name) for run in runs]
    if load(name).has_caches:
        results += [run(name, "--no-kv-cache") for run in runs]
    decodes = "func.func @decode(" in call([TITANC, "--stop-after=model", source_of(name)])
    notes = (export(name) / "notes").read_text()
    results.append((load(name).has_caches == decodes, "    " + notes.replace("\n", "\n    ")))
    return all(passed for passed, _ in results), "\n".join(text for _, text in results)


def main() -> None:
    def add_arguments(parser):
        parser.add_argument("--all", action="store_true", help="every model")
        parser.add_argument("--keep", action="store_true", help="keep the files of earlier calls")
    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)
    report = Report()
    names = NAMES if arguments.all or arguments.names else sample_by_commit([name for name in NAMES if name not in KNOWN], 24)
    report.cases([(name, partial(check, name)) for name in names], arguments.names)
    report.end()


if __name__ == "__main__":
    main()
