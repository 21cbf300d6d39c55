"""Imported models on chats and packed documents: the program of `titanc import`, without changes in its text.

    answers.py [-v] [--all] [NAME...]

`transformers` makes a tiny model of each family with random weights in float64, and `titan-prepare` writes chats whose
answers count. The program is rebuilt with `--set`:

- *answers*: with `model.answers`, three steps on windows of the chats have the losses of `transformers` with labels
  of -100.
- *packed*: with `model.packed`, three steps on packed chats have the losses of `transformers` with positions that
  restart in each document and a mask that is causal within each document.
- *greedy text*: generation from this program equals the greedy text of `transformers`, with and without caches.
- *export*: the configuration and all tensors are those that were imported.

A program without these settings names them in a message. Without --all, each commit tests a third of the families.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent / "prepare")]

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

import prepared  # noqa: E402
import weighted  # noqa: E402
from compare import RULES, Result, compare_metric, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from texts import corpus  # noqa: E402
from tiny import FAMILIES  # noqa: E402
from titan import (BUILD, TITANC, Launch, Report, build, call, environment_of, read_arguments,  # noqa: E402
                   sample_by_commit, lock_product)
from training import Recipe, train  # noqa: E402

OUT = BUILD / "tests" / "answers"
BATCH, SEQ, STEPS, SEED = 4, 48, 3, 7
weighted.SEQ, weighted.BATCH, weighted.STEPS, weighted.SEED = SEQ, BATCH, STEPS, SEED
NAMES = ["llama", "gemma2", "mixtral", "gpt2", "mistral", "qwen3-moe", "gpt-oss", "deepseek-v2", "olmo2", "phi3",
         "qwen2", "qwen3"]
TEMPLATE = ("{% for message in messages %}{{ message['role'][0] }}: {{ message['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}a: {% endif %}")
PROMPT, TOKENS = "u: What is\na:", 20
RULE = RULES["float64"]
RUN = [f"data.seq={SEQ}", f"data.batch={BATCH}", "optimizer.lr=8e-4", "optimizer.weight_decay=0.1", "schedule.warmup=2",
       "schedule.decay=linear", "schedule.to=0"]
SETTINGS = {"answers": ["model.answers=true"], "plain": [],
            "packed": ["model.packed=true", "data.packing=documents", "data.overlong=split"]}


def make(name: str):
    """The model of `transformers` and its directory."""
    config, folder = FAMILIES[name].config, OUT / name / "hf"
    config._attn_implementation = config._experts_implementation = "eager"  # others refuse float64
    torch.manual_seed(3)
    architecture = getattr(transformers, FAMILIES[name].architecture)  # imports its code, which in_float64 changes
    with in_float64():
        model = architecture(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
    with lock_product(folder):
        if not folder.exists():
            model.save_pretrained(folder)
    return model.eval(), folder


def chats() -> Path:
    """Prepared chats: several in a sample and longer than a sample, of one answer and of several."""
    prefix = OUT / "chats"
    with lock_product(prefix):
        if not prefix.with_suffix(".idx").exists():
            letters = [text.encode("ascii", "ignore").decode() for text in corpus(120, seed=4)]
            texts = [text[:1 + i % 7 if i % 20 else 60] for i, text in enumerate(letters)]
            rows = [{"chat": [{"role": role, "content": text} for text, role in
                              zip(texts[i:i + 2 + 2 * (i % 3 == 0)], ["user", "assistant"] * 2)]}
                    for i in range(0, len(texts) - 4, 2)]
            template = OUT / "template"
            template.write_text(TEMPLATE)
            source = prepared.write_lines(OUT / "chats.jsonl", rows)
            prepared.prepare(source, "--messages", "chat", "--tokenizer", "bytes", "--chat-template", template, "-o", prefix)
    return prefix


def executable(name: str, kind: str) -> Path:
    """The imported program, built with settings alone."""
    _, folder = make(name)
    source, exe = OUT / name / "imported.titan", OUT / name / kind
    with lock_product(source):
        if not source.exists():
            call([TITANC, "import", folder, "-o", source])
    with lock_product(exe):
        if not exe.exists():
            build(source, "finetune", "float64", exe, RUN + SETTINGS[kind])
    return exe


def samples(kind: str) -> list[dict[str, torch.Tensor]]:
    data = prepared.read(chats())
    documents = list(zip(data.documents, data.weights))
    return weighted.batches([(1, (weighted.packs if kind == "packed" else weighted.windows)(documents))])


def answers_loss(model, p, tokens, labels, documents, positions, weights, used=None):
    """The loss that `transformers` computes itself, whose labels are not shifted yet."""
    tokens = torch.cat([tokens, labels[:, -1:]], 1)
    ignored = torch.full_like(labels[:, :1], -100)
    labels = torch.cat([ignored, torch.where(weights > 0, labels, -100)], 1)
    with in_float64():
        return torch.func.functional_call(model, p, (), {"input_ids": tokens, "labels": labels}).loss


def block_causal(documents, window=None):
    """The mask that is added to attention scores, [batch, 1, seq, seq]: 0 where a position sees another one."""
    at = torch.arange(documents.shape[1])
    seen = (documents[:, :, None] == documents[:, None]) & (at[:, None] >= at)
    if window:
        seen &= at[:, None] - at < window
    return torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, torch.finfo(torch.float64).min)[:, None]


def packed_loss(model, p, tokens, labels, documents, positions, weights, used=None):
    window = getattr(model.config, "sliding_window", None)
    mask = block_causal(documents, window)
    if len(set(getattr(model.config, "layer_types", None) or ())) > 1:
        mask = {"full_attention": block_causal(documents), "sliding_attention": mask}
    with in_float64():
        logits = torch.func.functional_call(model, p, (), {
            "input_ids": tokens, "attention_mask": mask, "position_ids": positions}).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.where(weights > 0, labels, -100).flatten())


def losses(name: str, kind: str):
    model, folder = make(name)
    out = Launch(STEPS, SEED).run(executable(name, kind), chats(), OUT / name / f"run-{kind}", ["--init-from", folder])
    loss = partial(answers_loss if kind == "answers" else packed_loss, model)
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    batches = samples(kind)
    rows, *_ = train(SimpleNamespace(loss=loss, UNDECAYED=()), parameters, batches, Recipe(steps=STEPS))
    result = Result()
    for metric, limit in (("loss", 1e-12), ("grad_norm", RULE.norm)):
        compare_metric(metric, read_metric(out, metric), {row["step"]: row[metric] for row in rows}, limit, result)
    some = all(0 < batch["weights"].mean() < 1 for batch in batches)
    several = kind != "packed" or all((batch["documents"].amax(1) > 1).any() for batch in batches)
    return result.passed() and some and several, result.table()


def greedy(model) -> list[int]:
    tokens = list(PROMPT.encode())
    with in_float64(), torch.no_grad():
        for _ in range(TOKENS):
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[-TOKENS:]


def text(name: str):
    model, folder = make(name)
    command = [executable(name, "packed"), "generate", "--init-from", folder, "--prompt", PROMPT, "--max-tokens", TOKENS,
               "--tokenizer", "bytes", "--json"]
    written = [json.loads(call([*command, *more], env=environment_of({})))["tokens"] for more in ([], ["--no-kv-cache"])]
    theirs = greedy(model)
    return written == [theirs] * 2, f"    transformers {theirs}\n    {written}"


def exported(name: str):
    _, folder = make(name)
    for kind in ("plain", "packed"):
        out = OUT / name / f"exported-{kind}"
        call([executable(name, kind), "export", "--init-from", folder, "--hf", out], env=environment_of({}))
    configs = [json.loads((OUT / name / f"exported-{kind}" / "config.json").read_text()) for kind in ("plain", "packed")]
    for config in configs:
        del config["titan"]  # the settings of the program
    ours, theirs = ({n: t for file in sorted(path.glob("*.safetensors")) for n, t in load_file(file).items()}
                    for path in (out, folder))
    same = ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)
    architecture = FAMILIES[name].architecture
    good = same and configs[0] == configs[1] and configs[0]["architectures"] == [architecture]
    return good, f"    tensors equal: {same}\n    {configs[0]}\n    {configs[1]}"


def message(words: list[str], *options, kind="plain"):
    """Whether a program without the settings prints all `words`, which name the missing setting."""
    _, folder = make("llama")
    command = [executable("llama", kind), "--data", chats(), "--init-from", folder, "--steps", 1, "--out", OUT / "message",
               "--resume", "none", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment_of({}))
    missing = [word for word in words if word not in done.stdout + done.stderr]
    return not missing, f"    missing: {missing}\n{done.stdout}{done.stderr}"


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="every family"))
    torch.set_num_threads(1)
    report = Report()
    families = NAMES if arguments.all or arguments.names else sample_by_commit(NAMES, 3)
    cases = [(f"{name} {what}", partial(run, name)) for name in families
             for what, run in (("answers", partial(losses, kind="answers")), ("packed", partial(losses, kind="packed")),
                               ("greedy text", text), ("export", exported))]
    cases += [("message about packing", partial(message, ["no input `weights`", "--set model.packed=true"],
                                                "--set", "data.packing=documents")),
              ("message about mixed documents",
               partial(message, ["attend to earlier documents", "--set model.packed=true"],
                       "--set", "data.packing=documents", "--set", "data.overlong=split", kind="answers")),
              ("message about answers", partial(message, ["so all labels count", "--set model.answers=true"]))]
    report.cases(cases, arguments.names)
    report.end()


if __name__ == "__main__":
    main()
