"""Configurations of `transformers`: import, export, and import again; refusals; hostile files.

    run.py [-v] [NAME...]

Each configuration, as transformers writes it today or as it was published, must give the expected model and
arguments. The configuration that the compiler writes for the imported model must be read by transformers to the
same fields, and import to the same arguments.
"""

import argparse
import copy
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "parity")]
from titan import QUICK, TITANC, call  # noqa: E402

# Fields that change no number of a model, or that Titan's model does not have (dropout, other heads).
HARMLESS = {"architectures", "transformers_version", "_name_or_path", "dtype", "torch_dtype", "use_cache", "titan",
            "bos_token_id", "eos_token_id", "pad_token_id", "initializer_range", "max_position_embeddings",
            "pretraining_tp", "cache_implementation", "input_jitter_noise", "attn_pdrop", "embd_pdrop", "resid_pdrop",
            "attention_dropout", "reorder_and_upcast_attn", "n_ctx", "task_specific_params", "auto_map",
            "output_router_logits", "router_aux_loss_coef", "sliding_window_pattern", "max_window_layers",
            "num_nextn_predict_layers", "aux_loss_alpha", "seq_aux", "ep_size", "n_group", "topk_group",
            "original_max_position_embeddings", "unsloth_fixed", "unsloth_version", "_attn_implementation_autoset",
            "is_llama_config", "rope_interleaved", "transformers.js_config", "use_mrope", "id2label", "label2id",
            "_num_labels", "quantization_config", "full_attn_mod", "interpolate_factor", "output_past", "initial_context_length"}
HARMLESS_PREFIX = "summary_"


class Mismatch(Exception):
    """A difference from the expected result."""


def expect(is_good: bool, text: str) -> None:
    if not is_good:
        raise Mismatch(text)


def titanc(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([str(TITANC), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def import_config(folder: Path) -> str:
    """The `.titan` file that titanc writes for a `config.json`."""
    done = titanc("import", folder)
    expect(done.returncode == 0, f"titanc import {folder}:\n{done.stderr}")
    return done.stdout


def read_model(text: str) -> tuple[str, dict]:
    """The model and its arguments in an imported file."""
    found = re.search(r"^model \w+ = (\w+) \{\n(.*?)\n\}", text, re.M | re.S)
    expect(found is not None, f"no model in\n{text}")
    words = {"true": True, "false": False, "none": None}
    entries = re.findall(r"(\w+) += (\[[^\]]*\]|[^,\n]+)", found[2])
    return found[1], {name: words[value] if value in words else json.loads(value) for name, value in entries}


def compile_config(program: Path) -> tuple[dict, list]:
    """The configuration that the compiler derives from a program, and its lines: the attribute `titan.config`."""
    done = titanc("--stop-after=model", program)
    expect(done.returncode == 0, f"titanc --stop-after=model {program}:\n{done.stderr}")
    found = re.search(r'titan\.config = "((?:[^"\\]|\\.)*)"', done.stdout)
    expect(found is not None, f"{program} has no configuration")
    text = re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), found[1])
    made = json.loads(text)
    return made["config"], made["lines"]


def find_member(config, path: list):
    for name in path:
        config = config.get(name) if isinstance(config, dict) else None
    return config


def find_changes(config: dict, lines: list) -> list:
    """The lines for which an export changes the configuration of its source (compiler/sema/interchange/ExportConfig.h)."""
    changes = []
    for line in lines:
        found = [member for path in line["keys"] if (member := find_member(config, path)) is not None]
        if "lines" in line:
            present = [one for one in found if isinstance(one, dict) and (
                "absentKey" not in line or find_member(one, line["absentKey"]) != line["absentValue"])]
            changes += find_changes(present[0], line["lines"]) if present else [line] if line["written"] else []
        elif found and not line["length"]:
            changes += [line] if any(value != line["value"] for value in found) else []
        elif not found and not (line["optional"] or line["length"] or line["value"] is None):
            changes.append(line)
    return changes


def save_config(config, folder: Path) -> None:
    folder.mkdir(parents=True)
    if isinstance(config, dict):
        (folder / "config.json").write_text(json.dumps(config, indent=2))
    else:
        config.save_pretrained(folder)


def fill_positions(rope: dict, config) -> dict:
    """Rotary parameters with the defaults that some files omit."""
    kind, defaults = rope["rope_type"], {"partial_rotary_factor": 1.0}
    if kind == "yarn":
        defaults |= {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True}
    if kind == "longrope":
        defaults["factor"] = config.max_position_embeddings / rope["original_max_position_embeddings"]
    return {**defaults, **{key: value for key, value in rope.items() if key not in ("type", "finetuned")}}


def get_numeric_fields(config) -> dict:
    """The fields that change numbers of a model, with defaults filled in; rotary parameters in their newest form."""
    fields = {key: value for key, value in config.to_dict().items()
              if key not in HARMLESS and not key.startswith(HARMLESS_PREFIX)}
    if "hidden_activation" in fields:  # the field that the code of Gemma 2 reads
        fields.pop("hidden_act", None)
    if not fields.get("use_sliding_window", True):
        fields.pop("sliding_window", None)
    rope = fields.get("rope_parameters")
    if isinstance(rope, dict):
        layers = {"all": rope} if "rope_type" in rope else rope  # some models have other positions in layers of another kind
        fields["rope_parameters"] = {name: fill_positions(one, config) for name, one in layers.items()
                                     if isinstance(one, dict)}
    return {key: value for key, value in fields.items() if value is not None}


def round_trip(case, folder: Path) -> None:
    from transformers import AutoConfig
    save_config(case.config, folder / "given")
    text = import_config(folder / "given")
    model, arguments = read_model(text)
    expect(model == case.model, f"the model is {model}, not {case.model}")
    expect(arguments == case.arguments, f"the arguments are\n{arguments}\nnot\n{case.arguments}")
    program = folder / "program.titan"
    program.write_text(text)
    config, lines = compile_config(program)
    changes = find_changes(json.loads((folder / "given" / "config.json").read_text()), lines)
    expect(not changes, f"an export of the imported weights changes these keys: {changes}")
    save_config(config, folder / "exported")
    given, written = (get_numeric_fields(AutoConfig.from_pretrained(folder / name))
                      for name in ("given", "exported"))
    if "intermediate_size" in given and model == "Qwen3" and "num_experts_per_tok" in given:
        given.pop("intermediate_size"), written.pop("intermediate_size")  # the size of dense layers; the model has none
    # An export states what others leave to defaults, such as `head_dim`.
    differing = {key: (value, written.get(key)) for key, value in given.items() if written.get(key) != value}
    expect(not differing, f"transformers reads other fields (given, exported): {differing}")
    again = read_model(import_config(folder / "exported"))
    expect(again == (model, arguments), f"the export imports as {again}")


def refusals(folder: Path) -> None:
    """Titan refuses keys that the model cannot express, and the message names the key."""
    import families
    llama = families.llama_8b()
    changes = [{"hidden_act": "unheard"}, {"quantization_config": {"quant_method": "hqq"}},
               {"rope_scaling": {"type": "linear"}}, {"rope_scaling": {"rope_type": "unheard", "factor": 2.0}},
               {"head_dim": 0}, {"num_key_value_heads": 5},
               {"rope_scaling": {"type": "linear", "factor": 2.0, "high_freq_factor": 4.0}}, {"attention_dropout": 0.1},
               {"partial_rotary_factor": 0.5}]
    for number, change in enumerate(changes):
        save_config({**llama, **change}, folder / str(number))
        done = titanc("import", folder / str(number))
        key = next(iter(change))
        key = {"quantization_config": "quant_method", "rope_scaling": "rope_"}.get(key, key)
        expect(done.returncode == 1 and key in done.stderr and "config.json:" in done.stderr,
               f"{change} was not refused by key:\n{done.stderr}{done.stdout}")


def list_paths(value, path=()):
    """The paths of all fields of a configuration, nested ones included."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, member in value.items():
            yield from list_paths(member, (*path, key))


def hostile(folder: Path) -> None:
    """Values of wrong types and sizes, missing keys and truncated files import, or cause an error that names the file."""
    import families
    chance = random.Random(0)
    folder.mkdir(parents=True)
    file = folder / "config.json"
    deep = []
    for _ in range(20):
        deep = [deep]
    values = [None, True, "x", "", -1, 0, 2.5, 1e300, 2 ** 62, 2 ** 70, [], [1, {}], {}, {"a": {"b": 1}}, deep, "\n\"}"]
    cases = [families.llama_8b(), families.published()[-1].config, families.published()[-2].config]

    def check(what: str) -> None:
        done = titanc("import", file)
        expect(done.returncode in (0, 1), f"{what}: status {done.returncode}\n{done.stderr}")
        expect(done.returncode == 0 or str(file) in done.stderr.splitlines()[0], f"{what}:\n{done.stderr}")

    for config in cases:
        fields = list(list_paths(config))
        for path in chance.sample(fields, min(16, len(fields))):
            for value in chance.sample(values, 4) + ["absent"]:
                changed = copy.deepcopy(config)
                parent = changed
                for key in path[:-1]:
                    parent = parent[key]
                if value == "absent":
                    del parent[path[-1]]
                else:
                    parent[path[-1]] = value
                file.write_text(json.dumps(changed))
                check(f"{path} = {value}")
        text = json.dumps(config).encode()
        for _ in range(20):
            position = chance.randrange(len(text))
            file.write_bytes(text[:position] + bytes([chance.randrange(256)]) + text[position + chance.randrange(2):])
            check(f"byte {position}")
            file.write_bytes(text[:position])
            check(f"cut at {position}")


def program(folder: Path) -> None:
    """The exported directory of a compiled program has the configuration, with the type of its weights."""
    import families
    from transformers import AutoConfig
    case = next(case for case in families.tiny() if case.name == "llama")
    case.config.vocab_size = 256  # the text is tokenized by bytes
    case.config.architectures = ["LlamaForCausalLM"]
    save_config(case.config, folder / "given")
    source, exe = folder / "llama.titan", folder / "llama"
    call([TITANC, "import", folder / "given", "-o", source])
    (folder / "text.txt").write_text("The quick brown fox jumps over the lazy dog. " * 100)
    settings = ["data.format=text", f'data.path="{folder / "text.txt"}"', "data.seq=32", "data.batch=2", "steps=1",
                "checkpoint.every=1"]
    call([TITANC, "build", source, "-o", exe, *QUICK, *(word for setting in settings for word in ("--set", setting))])
    call([exe, "--out", folder / "run"])
    call([exe, "export", "--init-from", folder / "run", "--hf", folder / "hf"])
    written = json.loads((folder / "hf" / "config.json").read_text())
    expect(written["torch_dtype"] == "float32" and written["max_position_embeddings"] == 32, f"exported {written}")
    given, read = (get_numeric_fields(AutoConfig.from_pretrained(folder / name)) for name in ("given", "hf"))
    differing = {key: (value, read.get(key)) for key, value in given.items() if read.get(key) != value}
    expect(not differing, f"transformers reads other fields (given, exported): {differing}")


def speed(folder: Path) -> None:
    """A model of 8 billion parameters imports in less than a second of computation."""
    import families
    save_config(families.llama_8b(), folder / "given")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    import_config(folder / "given")
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"  Llama-3.1-8B imports in {wall:.2f} s, of which {seconds:.2f} s on processors")
    expect(seconds < 1, f"an import took {seconds:.2f} s of computation")


def cases():
    import families
    import published
    for case in families.tiny() + families.published() + published.bases():
        if not isinstance(case.config, dict):
            case.config.architectures = [families.ARCHITECTURES[case.config.model_type]]
        yield case.name, lambda folder, case=case: round_trip(case, folder)
    for check in (refusals, hostile, program, speed):
        yield check.__name__, check


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("-v", action="store_true", help="name what passes, too")
    options.add_argument("names", nargs="*", metavar="NAME")
    given = options.parse_args()
    try:
        import transformers
    except ImportError:
        print("skipped: configurations, because transformers is not installed")
        return
    transformers.logging.set_verbosity_error()  # it warns of tiny sizes
    failed = count = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, check in cases():
            if given.names and name not in given.names:
                continue
            count += 1
            try:
                check(Path(temporary) / name)
                if given.v:
                    print(f"passed {name}")
            except Mismatch as error:
                failed += 1
                print(f"FAILED {name}: {error}")
            except Exception:
                failed += 1
                print(f"FAILED {name}:\n{traceback.format_exc()}")
    print(f"configurations: {count - failed} of {count} passed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
