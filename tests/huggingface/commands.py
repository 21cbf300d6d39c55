"""Checks the five commands of docs/huggingface.md on a small model of `transformers`, and compares their results with those
of `transformers`.

    commands.py [-v] [NAME...]

A directory with a Llama of random weights and a byte-pair tokenizer, and texts in a JSONL file: `titanc import`,
`titanc build`, a run on two processes, `generate` and `export`. Greedy text equals that of transformers, with and
without caches, and transformers loads the export and computes the same logits.
"""

import json
import subprocess
import sys
import time
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
from texts import corpus  # noqa: E402
from titan import BUILD, TITANC, Report, by_torchrun, call, environment_of, precision, read_arguments  # noqa: E402

OUT = BUILD / "tests" / "commands"
MODEL, DATA, RUN, EXPORT = OUT / "Small-Llama", OUT / "my.jsonl", OUT / "run", OUT / "export"
TOKENS, PROMPT = 50, "In the"
PROGRAM = OUT / "llama"


def environment() -> dict[str, str]:
    return environment_of({"XDG_CACHE_HOME": str(OUT / "cache")})


def make() -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(makers.byte_pairs(MODEL))
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=128, tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
    torch.manual_seed(5)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():  # logits far apart: rounding never decides between two tokens
        for parameter in model.parameters():
            parameter *= 3
    model.save_pretrained(MODEL)
    DATA.write_text("".join(json.dumps({"text": text}) + "\n" for text in corpus(200, seed=11)))


def timed(*command) -> str:
    begun = time.perf_counter()
    text = call(list(command), env=environment(), timeout=500)
    print(f"    {time.perf_counter() - begun:6.2f} s  {Path(command[0]).name} "
          + " ".join(str(word) for word in command[1:4]), flush=True)
    return text


def run_commands():
    """The commands, as a user types them; only samples and the run are shorter."""
    make()
    source = OUT / "llama.titan"
    timed(TITANC, "import", MODEL, "-o", source)
    timed(TITANC, "build", source, "-o", PROGRAM, "--set", "data.seq=64", "--set", "data.batch=4", *precision("float32"))
    timed(*by_torchrun(2, [PROGRAM, "--data", DATA, "--init-from", MODEL, "--steps", 20, "--out", RUN, "--set",
                           "optimizer.lr=3e-3"]))
    text = timed(PROGRAM, "generate", "--init-from", RUN, "--prompt", PROMPT, "--max-tokens", TOKENS)
    timed(PROGRAM, "export", "--init-from", RUN, "--hf", EXPORT)
    evaluated = json.loads(timed(PROGRAM, "eval", "--data", DATA, "--init-from", RUN, "--json"))
    rows = [json.loads(line) for line in (RUN / "metrics.jsonl").read_text().splitlines()]
    learnt = max(rows[-1]["loss"], evaluated["loss"]) < rows[0]["loss"]
    return text.startswith(PROMPT) and learnt, f"    {text!r}, losses {rows[0]} {rows[-1]} {evaluated}"


def generate(weights: Path, *options) -> list[int]:
    line = call([PROGRAM, "generate", "--init-from", weights, "--prompt", PROMPT, "--max-tokens", TOKENS, "--json",
                 *options], env=environment())
    return json.loads(line)["tokens"]


def greedy(weights: Path) -> list[int]:
    """The continuation by transformers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(weights)
    model = transformers.AutoModelForCausalLM.from_pretrained(weights)
    prompt = tokenizer(PROMPT, return_tensors="pt")
    written = model.generate(**prompt, max_new_tokens=TOKENS, do_sample=False)[0, prompt["input_ids"].shape[1]:].tolist()
    return written[:-1] if written[-1] == tokenizer.eos_token_id else written


def same_text(weights: Path):
    theirs = greedy(weights)
    results = {options: generate(weights, *options) for options in ((), ("--no-kv-cache",))}
    wrong = {options: tokens for options, tokens in results.items() if tokens != theirs}
    return not wrong, f"    transformers {theirs}\n    {wrong}"


def without_prompt():
    """A text from its beginning: after BOS."""
    line = json.loads(call([PROGRAM, "generate", "--init-from", MODEL, "--max-tokens", 5, "--json"], env=environment()))
    model = transformers.AutoModelForCausalLM.from_pretrained(MODEL)
    beginning = torch.tensor([[model.config.bos_token_id]])
    theirs = model.generate(beginning, max_new_tokens=5, do_sample=False)[0, 1:].tolist()
    return line["prompt"] == "" and line["tokens"] == theirs[:len(line["tokens"])], f"    {line}\n    {theirs}"


def broken_prompt():
    """A prompt that is no UTF-8 is refused instead of continued with replacement characters."""
    done = subprocess.run([PROGRAM, "generate", "--init-from", MODEL, "--prompt", b"a\xff\xfe"], env=environment(),
                          capture_output=True)
    return done.returncode == 1 and b"the prompt is not valid UTF-8" in done.stderr, f"    {done}"


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    report = Report()
    report.case("the five commands", run_commands)
    for name, weights in (("given", MODEL), ("exported", EXPORT)):
        report.case(f"greedy text of the {name} weights", lambda weights=weights: same_text(weights))
    report.case("a text without a prompt", without_prompt)
    report.case("a prompt that is no text", broken_prompt)
    report.end()
    del arguments


if __name__ == "__main__":
    main()
