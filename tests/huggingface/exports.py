"""Files of an export beside its weights: those of the directory of Hugging Face from which the weights come.

    exports.py [-v] [--all] [--keep] [NAME...]

`config.json` of each family has other values than the defaults for keys that the model does not read, a longer
context than the program's samples, and other special tokens than `generation_config.json`.

- *direct*: the export of the directory has each key with its value, and the other files byte for byte.
- *run*: so has the export of a run; for one family also of its checkpoint, of a resumed run, and of a run that
  starts from the run.
- *no tokenizer*: likewise, of a directory without files of a tokenizer.
- *changed*: keys that the program contradicts have its values.
- *adapters*: the merged export of adapters of another rank than the example's has the keys of the base.

Without --all, each commit tests a third of the families (sample_by_commit).
"""

import json
import shutil
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "prepare"), str(HERE.parent / "parity")]

try:
    import tokenizers  # noqa: F401
    import transformers
except ImportError:
    print("skipped: without the Python packages transformers and tokenizers (scripts/setup --data --tests installs them)")
    sys.exit(0)

import makers  # noqa: E402
import torch  # noqa: E402
from keys import compare_files  # noqa: E402
from programs import OUT, SEED, SEQ, executable, make  # noqa: E402
from tiny import FAMILIES  # noqa: E402
from titan import (QUICK, ROOT, TITANC, Report, call, environment_of, read_arguments,  # noqa: E402
                   sample_by_commit, write_text)

CONTEXT = 4 * SEQ
KEYS = {"max_position_embeddings": CONTEXT, "initializer_range": 0.013, "use_cache": False, "bos_token_id": 7,
        "eos_token_id": 8, "pad_token_id": None, "pretraining_tp": 2, "_name_or_path": "org/model",
        "transformers_version": "4.40.0", "task_specific_params": {"text-generation": {"max_length": 50}},
        "auto_map": {"AutoModel": "code.Model"}}
GENERATION = {"bos_token_id": 1, "eos_token_id": [2, 5], "pad_token_id": 3, "do_sample": True, "temperature": 0.6,
              "top_p": 0.9, "transformers_version": "4.40.0"}
LOSSES = {"output_router_logits": False}
OWN_KEYS = {  # by the model type
    "gpt2": {"n_positions": 64, "attn_pdrop": 0.2, "embd_pdrop": 0.3, "resid_pdrop": 0.4, "n_ctx": 64,
             "reorder_and_upcast_attn": True, "summary_type": "cls_index", "summary_first_dropout": 0.3},
    "qwen3": {"max_window_layers": 2}, "qwen3_moe": {"max_window_layers": 2, **LOSSES},
    "mixtral": LOSSES, "gpt_oss": {"initial_context_length": 32, **LOSSES}, "gemma2": {"cache_implementation": "hybrid"},
    "deepseek_v2": {"aux_loss_alpha": 0.02, "seq_aux": False},
    "deepseek_v3": {"num_nextn_predict_layers": 0, "aux_loss_alpha": 0.02, "ep_size": 2},
}


def source(name: str, case: str, tokenizer: bool = True) -> Path:
    """A directory with the weights of the family, and configurations of a published model."""
    _, weights, _ = make(name)
    folder = OUT / name / case / "published"
    shutil.rmtree(folder.parent, ignore_errors=True)
    shutil.copytree(weights, folder)
    config = json.loads((folder / "config.json").read_text())
    keys = {key: value for key, value in KEYS.items() if key != "max_position_embeddings" or key in config}
    write(folder / "config.json", {**config, **keys, **OWN_KEYS.get(config["model_type"], {})})
    write(folder / "generation_config.json", GENERATION)
    if tokenizer:
        makers.byte_pairs(folder)
        (folder / "chat_template.jinja").write_text(makers.CHATML)
        write(folder / "special_tokens_map.json", {"bos_token": makers.SPECIAL[0]})
    return folder


def write(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=1))


def read(path: Path):
    return json.loads(path.read_text())


def export(exe: Path, weights: Path, out: Path, *options) -> Path:
    shutil.rmtree(out, ignore_errors=True)
    call([exe, "export", "--init-from", weights, "--hf", out, *options], env=environment_of({}), timeout=300)
    return out


def train(exe: Path, out: Path, *options) -> Path:
    shutil.rmtree(out, ignore_errors=True)
    return resume(exe, out, *options)


def resume(exe: Path, out: Path, *options) -> Path:
    text = write_text(out.parent / "text.txt", 2000)
    call([exe, "--data", text, "--seed", SEED, "--out", out, *options], env=environment_of({}), timeout=300)
    return out


def result(wrong: dict[str, list[str]]):
    lines = [f"    {what}: {line}" for what, all_of in wrong.items() for line in all_of]
    return not lines, "\n".join(lines)


def files(name: str, tokenizer: bool):
    case = "files" if tokenizer else "bare"
    given, exe, folder = source(name, case, tokenizer), executable(name, make(name)[2], "run"), OUT / name / case
    wrong = {"direct": compare_files(given, export(exe, given, folder / "direct"))}
    transformers.AutoConfig.from_pretrained(folder / "direct")
    run = train(exe, folder / "run", "--init-from", given, "--steps", 1)
    wrong["run"] = compare_files(given, export(exe, run, folder / "of-run"))
    return result(wrong)


def derived(name: str):
    """Runs that continue or start from a run, and its checkpoint."""
    given, exe, folder = source(name, "derived"), executable(name, make(name)[2], "run"), OUT / name / "derived"
    checkpoints = ("--steps", 2, "--set", "checkpoint.every=1")
    first = train(exe, folder / "first", "--init-from", given, "--stop-at", 1, *checkpoints)
    wrong = {"checkpoint": compare_files(given, export(exe, first / "checkpoints" / "step-1", folder / "of-checkpoint"))}
    resume(exe, first, *checkpoints)
    wrong["resumed"] = compare_files(given, export(exe, first, folder / "of-resumed"))
    second = train(exe, folder / "second", "--init-from", first, "--steps", 1)
    wrong["second"] = compare_files(given, export(exe, second, folder / "of-second"))
    resume(exe, second, "--steps", 1, "--resume", "none")
    left = [path for path in ("source_config.json",) if (second / path).exists()]
    wrong["new weights"] = [f"the run kept {path}" for path in left]
    return result(wrong)


def changed(name: str):
    """Keys that the program contradicts: a shorter context, other types, a value of the model."""
    given, exe, folder = source(name, "changed"), executable(name, make(name)[2], "run"), OUT / name / "changed"
    wrong = {"f32": compare_files(given, export(exe, given, folder / "narrow", "--dtype", "f32"), dtype="float32")}
    config = read(given / "config.json")
    del config["dtype"]
    write(given / "config.json", {**config, "max_position_embeddings": SEQ // 2, "torch_dtype": "float64",
                                  "rms_norm_eps": 1e-3, "head_dim": None, "num_hidden_layers": 7})
    wrong["other values"] = compare_files(given, export(exe, given, folder / "other"), max_position_embeddings=SEQ,
                                    rms_norm_eps=1e-5, head_dim=8, num_hidden_layers=3)
    other = read(given / "config.json")
    write(given / "config.json", {**other, "model_type": "other"})
    own = read(export(exe, given, folder / "own") / "config.json")
    if (own["architectures"], own["max_position_embeddings"]) != (config["architectures"], SEQ):
        wrong["another kind"] = [str(own)]
    return result(wrong)


def scaled(name: str):
    """The source's positions are scaled, and the program's are not."""
    given, exe, folder = source(name, "scaled"), executable(name, make(name)[2], "run"), OUT / name / "scaled"
    path = given / "config.json"
    config = read(path)
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 32}
    rope = config.pop("rope_parameters")
    write(path, {**config, "rope_theta": rope["rope_theta"], "rope_scaling": scaling})
    wrong = {"old keys": compare_files(given, export(exe, given, folder / "old"), rope_scaling={"rope_type": "default"})}
    write(path, {**config, "rope_parameters": {**rope, **scaling}})
    wrong["new keys"] = compare_files(given, export(exe, given, folder / "new"), rope_parameters=rope)
    return result(wrong)


def adapters(name: str):
    given, folder = source(name, "adapters"), OUT / name / "adapters"
    program, exe = folder / "adapters.titan", folder / "adapters"
    call([TITANC, "import", given, "--lora", 4, "--lora-alpha", 5, "-o", program])
    call([TITANC, "build", program, "-o", exe, *QUICK, "--set", f"data.seq={SEQ}", "--set", "data.batch=4",
          "--set", "data.format=text"])
    run = train(exe, folder / "run", "--init-from", given, "--steps", 1)
    return result({"merged": compare_files(given, export(exe, run, folder / "merged"), dtype="float32")})


def main() -> None:
    def add_arguments(parser):
        parser.add_argument("--all", action="store_true", help="every family")
        parser.add_argument("--keep", action="store_true", help="use the programs that run.py has built")

    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)
    importable = [name for name, family in FAMILIES.items() if family.is_importable]
    families = importable if arguments.all or arguments.names else sample_by_commit(importable, 3)
    runs = {"files": (partial(files, tokenizer=True), families), "files without a tokenizer": (partial(files, tokenizer=False), families),
            "derived runs": (derived, ("llama",)), "changed keys": (changed, ("llama",)),
            "scaled positions": (scaled, ("llama",)), "adapters": (adapters, ("llama",))}
    report = Report()
    report.cases([(f"{name} {what}", partial(run, name)) for name in importable
                  for what, (run, chosen) in runs.items() if name in chosen], arguments.names)
    report.end()


if __name__ == "__main__":
    main()
