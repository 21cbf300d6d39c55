"""Programs that `titanc import` writes for models that read arrays: encoders, classifiers, models of pictures.

    encoders.py [-v] [--all] [--keep] [NAME...]

As imported.py, but the data are arrays with the names of the inputs in transformers:

- *logits*: the program after all phases, interpreted, computes the logits of `transformers` to 1e-10.
- *training*: three steps have the losses, the gradient norms and the final parameters of PyTorch.
- *generate*: the program refuses to write text, and says why.
- *round trip*: an export has the tensors of the source, bit for bit, and `transformers` loads it and computes the same
  logits.

Without --all, each commit tests a third of the models (sample_by_commit).
"""

import subprocess
import sys
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity")]

import numpy  # noqa: E402
import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

try:
    import transformers as hf
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from interpret import PHASES  # noqa: E402
from sample_order import permutation  # noqa: E402
from titan import (BUILD, QUICK, TITANC, Launch, Report, call, environment_of, lock_product, precision,  # noqa: E402
                   read_arguments, sample_by_commit)
from training import Recipe, train  # noqa: E402

OUT = BUILD / "tests" / "encoders"
SAMPLES, SEQ, SOURCE, STEPS, SEED = 14, 16, 13, 3, 7
RULE = RULES["float64"]


@dataclass(frozen=True)
class Case:
    config: object
    auto: str  # the class of transformers that makes the model
    inputs: tuple[str, ...] = ("input_ids", "labels")
    settings: tuple[str, ...] = ()  # of the program
    batch: int = 4
    frozen: str = ""  # the beginning of the names of parameters that are not trained


SIZES = dict(vocab_size=61, hidden_size=20, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37,
             max_position_embeddings=18, pad_token_id=0)
ODD = dict(vocab_size=53, hidden_size=18, num_hidden_layers=3, num_attention_heads=3, intermediate_size=29,
           max_position_embeddings=23, pad_token_id=0)
DRY = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
SPECIAL = dict(bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)
PICTURES = dict(hidden_size=18, num_hidden_layers=2, num_attention_heads=3, intermediate_size=29)
PIXELS = ("pixel_values", "labels")
SEEN = dict(hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20, image_size=16, patch_size=4,
            num_channels=2)
READ = dict(model_type="llama", vocab_size=40, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=6, max_position_embeddings=64, pad_token_id=0)
SPOKEN = dict(vocab_size=30, hidden_size=10, intermediate_size=14, num_hidden_layers=3, num_attention_heads=2,
              max_position_embeddings=18, bos_token_id=28, pad_token_id=1)
SOUNDS = ("input_features", "labels")
TOKENS = dict(pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=4, begin_suppress_tokens=None)
HEADS = dict(vocab_size=53, hidden_size=18, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, head_dim=10,
             intermediate_size=29, max_position_embeddings=64)
UNMASKED = ("input_ids", "labels", "padded")  # padding without a mask
PADDED = ("input_ids", "attention_mask", "labels")
PAIRS = ("input_ids", "token_type_ids", "attention_mask", "labels")

CASES = {
    "bert": Case(hf.BertConfig(**SIZES, **DRY), "AutoModelForMaskedLM"),
    "bert-odd": Case(hf.BertConfig(**ODD, **DRY, hidden_act="gelu_new", type_vocab_size=3, layer_norm_eps=1e-6),
                     "AutoModelForMaskedLM", PAIRS, ("model.padded=true", "model.pairs=true")),
    "bert-classes": Case(hf.BertConfig(**ODD, **DRY, num_labels=5), "AutoModelForSequenceClassification", PADDED, ("model.padded=true",)),
    "bert-tokens": Case(hf.BertConfig(**SIZES, **DRY, num_labels=3), "AutoModelForTokenClassification", PADDED, ("model.padded=true",)),
    "bert-vectors": Case(hf.BertConfig(**ODD, **DRY), "AutoModel",
                         ("input_ids", "attention_mask", "match_ids", "match_mask"), ("model.padded=true",)),
    "t5": Case(hf.T5Config(vocab_size=61, d_model=20, d_kv=6, d_ff=37, num_layers=2, num_decoder_layers=3, num_heads=3,
                           relative_attention_num_buckets=10, relative_attention_max_distance=9, decoder_start_token_id=0,
                           dropout_rate=0.0), "AutoModelForSeq2SeqLM", settings=("model.source=13",)),
    "t5-odd": Case(hf.T5Config(vocab_size=53, d_model=18, d_kv=5, d_ff=29, num_layers=3, num_decoder_layers=2, num_heads=4,
                               relative_attention_num_buckets=7, relative_attention_max_distance=11, pad_token_id=1,
                               decoder_start_token_id=2, feed_forward_proj="gated-gelu", tie_word_embeddings=False,
                               layer_norm_epsilon=1e-4, dropout_rate=0.0),
                   "AutoModelForSeq2SeqLM", PADDED, ("model.source=13", "model.padded=true")),
    "whisper": Case(hf.WhisperConfig(
        vocab_size=61, d_model=20, num_mel_bins=5, max_source_positions=9, max_target_positions=18, encoder_layers=2,
        encoder_attention_heads=5, encoder_ffn_dim=37, decoder_layers=3, decoder_attention_heads=2, decoder_ffn_dim=29,
        **TOKENS), "AutoModelForSpeechSeq2Seq", SOUNDS),
    "whisper-odd": Case(hf.WhisperConfig(
        vocab_size=53, d_model=12, num_mel_bins=7, max_source_positions=11, max_target_positions=23, encoder_layers=3,
        encoder_attention_heads=2, encoder_ffn_dim=19, decoder_layers=2, decoder_attention_heads=3, decoder_ffn_dim=31,
        activation_function="relu", scale_embedding=True, tie_word_embeddings=False, **TOKENS),
        "AutoModelForSpeechSeq2Seq", SOUNDS),
    "vit": Case(hf.ViTConfig(**PICTURES, num_channels=2, image_size=8, patch_size=2), "AutoModelForImageClassification", PIXELS),
    "vit-odd": Case(hf.ViTConfig(**{**PICTURES, "num_hidden_layers": 3}, num_channels=3, image_size=12, patch_size=4, qkv_bias=False, num_labels=7,
                                 hidden_act="gelu_new", layer_norm_eps=1e-5), "AutoModelForImageClassification", PIXELS),
    # A picture's patches, joined by four, replace the tokens 39 of a text.
    "idefics3": Case(hf.Idefics3Config(text_config=READ, vision_config=SEEN, image_token_id=39, scale_factor=2, pad_token_id=0),
                     "AutoModelForImageTextToText", ("pixel_values", "input_ids", "labels"), ("model.images=2",)),
    "idefics3-frozen": Case(hf.Idefics3Config(
        text_config={**READ, "tie_word_embeddings": True, "num_key_value_heads": 4, "rope_parameters": dict(
            rope_type="default", rope_theta=700.0)}, vision_config={**SEEN, "hidden_act": "gelu", "patch_size": 8},
        image_token_id=5, scale_factor=1, pad_token_id=0, tie_word_embeddings=True), "AutoModelForImageTextToText",
        ("pixel_values", "input_ids", "labels"), ('parameters."tower.*".frozen=true',), frozen="model.vision_model."),
    "clip": Case(hf.CLIPConfig(text_config={**SPOKEN, "eos_token_id": 29}, vision_config=SEEN, projection_dim=6), "AutoModel",
                 ("pixel_values", "input_ids", "return_loss")),
    "clip-odd": Case(hf.CLIPConfig(
        text_config={**SPOKEN, "eos_token_id": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-6},
        vision_config={**SEEN, "hidden_act": "gelu", "layer_norm_eps": 1e-6, "patch_size": 8}, projection_dim=7), "AutoModel",
        ("pixel_values", "input_ids", "return_loss"), batch=3),
    "llama-classes": Case(hf.LlamaConfig(**HEADS, pad_token_id=0, rope_parameters=dict(
        rope_type="linear", rope_theta=700.0, factor=3.0)), "AutoModelForSequenceClassification", UNMASKED),
    "llama-unpadded": Case(hf.LlamaConfig(**HEADS, num_labels=4), "AutoModelForSequenceClassification",
                           batch=1),  # transformers refuses several samples without a token for padding
    "llama-tokens": Case(hf.LlamaConfig(**HEADS, num_labels=3, attention_bias=True, mlp_bias=True, classifier_dropout=0.0),
                         "AutoModelForTokenClassification"),
    "mistral-classes": Case(hf.MistralConfig(**HEADS, sliding_window=5, pad_token_id=0), "AutoModelForSequenceClassification",
                            UNMASKED),
    "qwen2-tokens": Case(hf.Qwen2Config(**HEADS, classifier_dropout=0.0), "AutoModelForTokenClassification"),
    "modernbert": Case(hf.ModernBertConfig(**{**SIZES, "num_attention_heads": 2, "num_hidden_layers": 4}, **SPECIAL, local_attention=6), "AutoModelForMaskedLM"),
    "modernbert-odd": Case(hf.ModernBertConfig(
        **ODD, **SPECIAL, local_attention=9, hidden_activation="silu", classifier_activation="tanh", norm_eps=1e-4, norm_bias=True,
        attention_bias=True, mlp_bias=True, classifier_bias=True, decoder_bias=False, tie_word_embeddings=False,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=700.0),
                             sliding_attention=dict(rope_type="default", rope_theta=30.0))),
        "AutoModelForMaskedLM", PADDED, ("model.padded=true",)),
}


def draw(name: str, count: int, seed: int) -> dict[str, torch.Tensor]:
    """The arrays of a case. Padding has no labels."""
    case, chance = CASES[name], torch.Generator().manual_seed(seed)
    config = case.config

    def numbers(below: int, *shape: int, least: int = 0) -> torch.Tensor:
        return torch.randint(least, below, (count, *shape), generator=chance)

    if isinstance(config, (hf.Idefics3Config, hf.CLIPConfig)):
        return draw_pictures_with_texts(case, config, count, chance)
    if "pixel_values" in case.inputs:
        shape = (count, config.num_channels, config.image_size, config.image_size)
        return {"pixel_values": torch.randn(shape, generator=chance, dtype=torch.float64), "labels": numbers(config.num_labels)}
    if "input_features" in case.inputs:
        shape = (count, config.num_mel_bins, 2 * config.max_source_positions)
        labels = torch.where(torch.rand(count, SEQ, generator=chance) < 0.3, numbers(config.vocab_size, SEQ), -100)
        return {"input_features": torch.randn(shape, generator=chance, dtype=torch.float64), "labels": labels}
    length = SOURCE if case.auto == "AutoModelForSeq2SeqLM" else SEQ
    lengths = numbers(length + 1, least=length // 2)
    there = torch.ones(count, length).long()
    if {"attention_mask", "padded"} & set(case.inputs):
        there = (torch.arange(length) < lengths[:, None]).long()
    arrays = {"input_ids": numbers(config.vocab_size, length, least=1) * there, "attention_mask": there}
    if "match_ids" in case.inputs:
        arrays |= {"match_ids": numbers(config.vocab_size, length, least=1) * there.flip(0), "match_mask": there.flip(0)}
    if "token_type_ids" in case.inputs:
        arrays["token_type_ids"] = numbers(config.type_vocab_size, SEQ)
    classes = config.vocab_size if case.auto == "AutoModelForMaskedLM" else config.num_labels
    counts = torch.rand(count, SEQ, generator=chance) < 0.3
    if length == SEQ:
        counts &= there.bool()
    arrays["labels"] = torch.where(counts, numbers(classes, SEQ), -100)
    if case.auto == "AutoModelForSequenceClassification":
        arrays["labels"] = numbers(classes)
    return {n: arrays[n] for n in case.inputs if n in arrays}


def draw_pictures_with_texts(case: Case, config, count: int, chance: torch.Generator) -> dict[str, torch.Tensor]:
    vision, text = config.vision_config, config.text_config
    tokens = torch.randint(6, text.vocab_size - 1, (count, SEQ), generator=chance)
    shape = (vision.num_channels, vision.image_size, vision.image_size)
    if isinstance(config, hf.CLIPConfig):  # the end of a text is somewhere, and again at its last place
        for row, end in zip(tokens, torch.randint(1, SEQ, (count,), generator=chance).tolist()):
            row[end] = row[-1] = 29
        return {"pixel_values": torch.randn((count, *shape), generator=chance, dtype=torch.float64), "input_ids": tokens}
    images = 2 if "model.images=2" in case.settings else 1
    places = images * (vision.image_size // vision.patch_size // config.scale_factor) ** 2
    for row in tokens:
        row[torch.randperm(SEQ, generator=chance)[:places]] = config.image_token_id
    labels = torch.where(torch.rand(count, SEQ, generator=chance) < 0.3, -100, tokens)
    return {"pixel_values": torch.randn((count, images, *shape), generator=chance, dtype=torch.float64), "input_ids": tokens,
            "labels": labels}


@cache
def make(name: str):
    """The model of `transformers` and its directory."""
    case, folder = CASES[name], OUT / name / "hf"
    case.config._attn_implementation = "eager"  # others refuse float64
    architecture = getattr(hf, case.auto)._model_mapping[type(case.config)]  # imports its code, which in_float64 changes
    getattr(hf, "LlamaModel")  # likewise the code of the decoder of Idefics3
    torch.manual_seed(3)
    with in_float64():
        model = architecture(case.config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
    with lock_product(folder):
        if not folder.exists():
            model.save_pretrained(folder)
    return model.eval(), folder


def settings(name: str) -> list[str]:
    case = CASES[name]
    given = (f"data.batch={case.batch}", "data.format=arrays", "eval.data.format=arrays", *([] if case.inputs == PIXELS else [f"data.seq={SEQ}"]), "optimizer.lr=8e-4",
             "optimizer.weight_decay=0.1", "schedule.warmup=2", "schedule.decay=linear", "schedule.to=0", *case.settings)
    return [*precision("float64"), *(word for setting in given for word in ("--set", setting))]


def source_of(name: str) -> Path:
    _, folder = make(name)
    source = OUT / name / "imported.titan"
    with lock_product(source):
        if not source.exists():
            call([TITANC, "import", folder, "-o", source])
    return source


def executable(name: str) -> Path:
    source, exe = source_of(name), OUT / name / "imported"
    with lock_product(exe):
        if not exe.exists():
            call([TITANC, "build", source, "-o", exe, *QUICK, *settings(name)])
    return exe


def write(folder: Path, arrays: dict[str, torch.Tensor]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for array, values in arrays.items():
        numpy.save(folder / f"{array}.npy", values.numpy())
    return folder


def their_outputs(model, arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The outputs of the program, by their names."""
    with in_float64(), torch.no_grad():
        outputs = model(**{n: a for n, a in arrays.items() if not n.startswith("match_")})
    if isinstance(model, hf.BertModel):
        return {"last_hidden_state": outputs.last_hidden_state, "pooler_output": outputs.pooler_output,
                "vector": text_vectors(outputs.last_hidden_state, arrays["attention_mask"])}
    if isinstance(model, hf.CLIPModel):
        return {"picture_vector": outputs.image_embeds, "text_vector": outputs.text_embeds}
    return {"logits": outputs.logits}


def text_vectors(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The normalised means of the vectors of tokens, as sentence-transformers pools them."""
    means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return torch.nn.functional.normalize(means, dim=-1)


class Reference:
    """A model of transformers in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, model):
        self.model = model
        self.options = {"return_loss": True} if isinstance(model, hf.CLIPModel) else {}

    def loss(self, parameters, **arrays):
        if isinstance(self.model, hf.BertModel):
            return self.loss_of_pairs(parameters, **arrays)
        with in_float64():
            return torch.func.functional_call(self.model, parameters, (), arrays | self.options).loss


    def loss_of_pairs(self, parameters, input_ids, attention_mask, match_ids, match_mask):
        """The loss of sentence-transformers: each text has its match among those of the batch."""
        def vectors(tokens, mask):
            with in_float64():
                outputs = torch.func.functional_call(self.model, parameters, (tokens, mask))
            return text_vectors(outputs.last_hidden_state, mask)
        cosines = vectors(input_ids, attention_mask) @ vectors(match_ids, match_mask).T
        return torch.nn.functional.cross_entropy(20 * cosines, torch.arange(len(cosines)))


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor for file in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(file).items()}


def whole(model, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Files of a base, with the names of a whole model, which programs export."""
    return {f"bert.{n}": t for n, t in tensors.items()} if isinstance(model, hf.BertModel) else tensors


def training(name: str):
    model, folder = make(name)
    data = draw(name, SAMPLES, 3)
    out = Launch(STEPS, SEED).run(executable(name), write(OUT / name / "data", data), OUT / name / "trained",
                                  ["--init-from", folder])
    batch = CASES[name].batch
    order = [permutation(g % SAMPLES, SAMPLES, SEED, g // SAMPLES) for g in range(STEPS * batch)]
    batches = [{n: a[order[step * batch:(step + 1) * batch]] for n, a in data.items()} for step in range(STEPS)]
    frozen = CASES[name].frozen
    parameters = {n: p.detach() for n, p in model.named_parameters()
                  if p.requires_grad and not (frozen and n.startswith(frozen))}
    rows, _, final = train(Reference(model), parameters, batches, Recipe(steps=STEPS))
    trained = deepcopy(model)  # saved, because the names of tensors in files differ
    with torch.no_grad():
        for key, value in final.items():
            trained.get_parameter(key).copy_(value)
    trained.save_pretrained(OUT / name / "reference")
    result = Result()
    for kind, limit in (("loss", 1e-12), ("grad_norm", RULE.norm)):
        compare_metric(kind, read_metric(out, kind), {row["step"]: row[kind] for row in rows}, limit, result)
    exported = OUT / name / "exported-run"
    call([executable(name), "export", "--init-from", out, "--hf", exported], env=environment_of({}))
    ours = tensors_of(exported)
    compare_tensors("parameters", ours, whole(model, tensors_of(OUT / name / "reference")), RULE.parameters, result)
    return result.passed(), result.table()


def logits(name: str):
    model, folder = make(name)
    here = OUT / name
    arrays = draw(name, 1, 5)
    out = Launch(1, SEED).run(executable(name), write(here / "short", draw(name, SAMPLES, 3)), here / "read",
                              ["--init-from", folder])
    save_file({**load_file(out / "initial.safetensors"), **arrays}, here / "inputs.safetensors")
    ir = here / "model.mlir"
    ir.write_text(call([TITANC, "--stop-after=model", *settings(name), source_of(name)]))
    for phase in PHASES:
        ir.write_text(call([BUILD / "bin" / "titan-opt", f"--titan-phase-{phase}", ir]))
    dump = here / "logits.safetensors"
    call([BUILD / "bin" / "titan-interpret", "--program=logits", f"--dump={dump}",
          f"--inputs={here / 'inputs.safetensors'}", ir])
    theirs = their_outputs(model, arrays)
    ours = {n: t for n, t in load_file(dump).items() if n.startswith("output.")}
    if "attention_mask" in arrays:  # what padding computes counts nowhere
        there = arrays["attention_mask"].bool()
        ours, theirs = ({n: t[there] if t.shape[:2] == there.shape else t for n, t in side.items()} for side in (ours, theirs))
    result = Result()
    compare_tensors("logits", ours, {f"output.{n}": t for n, t in theirs.items()}, (1e-10, 1e-12), result)
    return result.passed(), result.table()


def generate(name: str):
    _, folder = make(name)
    done = subprocess.run([executable(name), "generate", "--init-from", folder, "--prompt", "a", "--tokenizer", "bytes"],
                          capture_output=True, text=True, env=environment_of({}), check=False)
    lacks = ("has no input called tokens", "has no output called logits")
    return done.returncode != 0 and any(part in done.stderr for part in lacks), f"    {done.returncode} {done.stderr}"


def round_trip(name: str):
    model, folder = make(name)
    out = OUT / name / "exported"
    call([executable(name), "export", "--init-from", folder, "--hf", out], env=environment_of({}))
    ours, theirs = tensors_of(out), whole(model, tensors_of(folder))
    different = [n for n in sorted(ours.keys() | theirs.keys())
                 if n not in ours or n not in theirs or not torch.equal(ours[n], theirs[n])]
    with in_float64():
        loaded = getattr(hf, CASES[name].auto).from_pretrained(out, dtype=torch.float64, attn_implementation="eager").eval()
    arrays = draw(name, min(CASES[name].batch, 2), 5)
    read = dict(loaded.named_parameters())
    same = type(loaded) is type(model) and all(torch.equal(p, read[n]) for n, p in model.named_parameters())
    # The sums of products depend on the alignment of tensors in the file.
    before, after = their_outputs(model, arrays), their_outputs(loaded, arrays)
    same &= all(torch.allclose(after[n], t, rtol=0, atol=1e-13) for n, t in before.items())
    return same and not different, f"    differ: {', '.join(different) or 'none'}; transformers agrees: {same}"


def main() -> None:
    def add_arguments(parser):
        parser.add_argument("--all", action="store_true", help="every model")
        parser.add_argument("--keep", action="store_true", help="keep the programs of earlier calls")
    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)
    report = Report()
    names = list(CASES) if arguments.all or arguments.names else sample_by_commit(list(CASES), 3)
    report.cases([(f"{name} {what}", partial(run, name)) for name in names for what, run in
                  (("logits", logits), ("training", training), ("generate", generate), ("round trip", round_trip))],
                 arguments.names)
    report.end()


if __name__ == "__main__":
    main()
