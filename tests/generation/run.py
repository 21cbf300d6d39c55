"""Compares the greedy text of the model families with caches, without caches, on tp 2, in stages, and in PyTorch.

    run.py [--all] [-v] [NAME...]

Programs compute in float64 from random weights, so that rounding never decides between two tokens. One prompt
is shorter than a chunk of `@prefill`, one is longer; their continuations exceed the longest text of the program.
Programs also continue several prompts at once. The reference is the model of tests/parity/models, which computes
the whole text for every token. Without --all, each commit tests some families of each list (sample_by_commit).
"""

import importlib
import json
import os
import subprocess
import sys
import zlib
from functools import cache, partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "parity"), str(TESTS / "prepare"), str(TESTS / "generation")]
import distribution  # noqa: E402
import makers  # noqa: E402
from families import random_weights  # noqa: E402
from titan import (QUICK, ROOT, TITANC, Report, by_torchrun, call, environment_of, on_ranks, precision,  # noqa: E402
                   read_arguments, sample_by_commit, lock_product)

OUT = ROOT / "out" / "generation"
SOURCE = TESTS / "parity" / "programs" / "families.titan"
STAGED = TESTS / "generation" / "staged.titan"
WIDE = TESTS / "generation" / "wide.titan"
SEQ, TOKENS = 96, 50  # chunks of prompts have 48 positions
PROMPTS = ["I", "In the beginning God created the heaven and the earth. And the earth"]
MANY = ["And", "In the beginning", *PROMPTS, "the earth was without form, and void; and darkness was upon the face",
        "the", "God said, Let there be light", "the deep", "In the beginning God", "I", "waters"]
ONE_BY_ONE = "generate.batch=1"
STAGED_FAMILIES, STAGED_TP = ["llama2", "gemma2", "mixtral"], ["llama2", "gemma2"]
SAMPLE = ["llama2", "gemma2", "deepseek"]
FAMILIES = ["llama2", "llama3_1", "mistral", "qwen3", "qwen3_yarn", "phi", "mixtral", "deepseek", "gemma2",
            "gpt_oss"]
WITHOUT_CACHES = "tide"  # a family that shifts positions


def weights_of(family: str) -> Path:
    path = OUT / family / "weights.safetensors"
    with lock_product(path):
        if not path.exists():
            save_file(random_weights(source_of(family), family, torch.Generator().manual_seed(3)), path)
    return path


def source_of(family: str) -> Path:
    return WIDE if family == "wide" else SOURCE


def program_of(family: str, run: str, settings: list[str] = (), exe: Path | None = None,
               dtype: str = "float64", source: Path | None = None) -> Path:
    exe = exe or OUT / family / run
    with lock_product(exe):
        if not exe.exists():
            call([TITANC, "build", source or source_of(family), "--train", run, "-o", exe, *QUICK,
                  *precision(dtype), "--set", f"data.seq={SEQ}", *settings])
    return exe


def generate(exe: Path, family: str, *options: str, processes: int = 1, texts: list[str] = PROMPTS) -> list[dict]:
    """The objects that `generate --json` writes."""
    prompts = OUT / family / f"prompts-{zlib.crc32(repr(texts).encode())}.jsonl"
    with lock_product(prompts):
        if not prompts.exists():  # another case may be reading it
            prompts.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
    command = [exe, "generate", "--init-from", weights_of(family), "--prompts", prompts, "--json",
               "--max-tokens", TOKENS, *options]
    return [json.loads(line) for line in
            call(on_ranks(processes, command), env=environment_of({}), timeout=300).splitlines()]


def tokens_of(written: list[dict]) -> list[list[int]]:
    return [one["tokens"] for one in written]


@cache
def cached_tokens(family: str) -> list[list[int]]:
    return tokens_of(generate(program_of(family, family), family))


def expect(ours: list, theirs: list, what: str) -> tuple[bool, str]:
    if ours == theirs and all(len(tokens) == TOKENS for tokens in ours):
        return True, f"    {ours}"
    return False, f"    {ours}\n    {what}:\n    {theirs}"


def without_caches(family: str):
    whole = generate(program_of(family, family), family, "--no-kv-cache")
    return expect(cached_tokens(family), tokens_of(whole), "without caches")


def on_two(family: str, *options: str):
    exe = program_of(family, f"{family}_mesh", ["--set", "parallel.shard=1"])
    divided = generate(exe, family, *options, processes=2)
    return expect(tokens_of(divided), cached_tokens(family), "on one process")


def one_by_one(family: str) -> Path:
    """The program without a batch of prompts."""
    exe = OUT / family / f"{family}_alone"
    return program_of(family, family, ["--set", ONE_BY_ONE], exe)


def together(family: str, *options: str):
    """More prompts than slots in a batch give the same tokens as one prompt after another. The prompts differ in
    length; some texts end early or exceed the longest text."""
    whole = tokens_of(generate(one_by_one(family), family, *options, texts=MANY))
    some = next(token for text in whole for token in text if any(token not in other for other in whole))
    written = [generate(exe, family, "--stop-token", str(some), *options, texts=MANY)
               for exe in (one_by_one(family), program_of(family, family))]
    lengths = {len(one["tokens"]) for one in written[0]}
    return written[0] == written[1] and len(lengths) > 1, "\n".join(f"    {texts}" for texts in written)


def together_on_two(family: str):
    exe = program_of(family, f"{family}_mesh", ["--set", "parallel.shard=1"])
    divided = generate(exe, family, processes=2, texts=MANY)
    return expect(tokens_of(divided), tokens_of(generate(one_by_one(family), family, texts=MANY)), "one by one")


def on_stages(family: str, run: str, processes: int):
    """Pipeline stages, each with its caches, give the tokens of one process: of prompts one by one, of several
    together, and without caches."""
    exe = program_of(family, run, exe=OUT / family / f"{run}_staged", source=STAGED)
    expected = tokens_of(generate(one_by_one(family), family, texts=MANY))
    for options in ((), ("--no-kv-cache",)):
        good, details = expect(tokens_of(generate(exe, family, *options, processes=processes, texts=MANY)), expected,
                               "on one process")
        if not good:
            return good, details
    return expect(tokens_of(generate(exe, family, processes=processes)), cached_tokens(family), "on one process")


def on_data_ranks():
    """Ranks that share the data of training compute the same texts."""
    exe = program_of("llama2", "llama2_mesh", ["--set", "parallel.tp=1"], OUT / "llama2" / "llama2_data")
    divided = generate(exe, "llama2", processes=2, texts=MANY)
    return expect(tokens_of(divided), tokens_of(generate(one_by_one("llama2"), "llama2", texts=MANY)), "one by one")


def independent_of_batch():
    """In f32 too, a continuation in a batch depends on no other prompt."""
    exe = program_of("llama2", "llama2", [], OUT / "llama2" / "llama2_f32", "float32")
    in_large_batch = generate(exe, "llama2", texts=MANY)
    some = generate(exe, "llama2", texts=MANY[:3])
    return expect(tokens_of(some), tokens_of(in_large_batch)[:3], "among others")


def in_pytorch(family: str):
    module, weights = importlib.import_module(f"models.{family}"), load_file(weights_of(family))
    texts = []
    for prompt in PROMPTS:
        text = list(prompt.encode())
        for _ in range(TOKENS):
            window = torch.tensor([text[-SEQ:]])
            text.append(int(module.logits(weights, window)[0, -1].argmax()))
        texts.append(text[-TOKENS:])
    return expect(cached_tokens(family), texts, "in PyTorch")


def falls_back():
    """A model without the programs `@prefill` and `@decode` generates text, and reports the operation that is the
    reason."""
    exe = program_of(WITHOUT_CACHES, WITHOUT_CACHES)
    result = subprocess.run([exe, "generate", "--init-from", weights_of(WITHOUT_CACHES), "--prompt", "In",
                             "--max-tokens", "3", "--json"], capture_output=True, text=True, env=os.environ)
    good = (result.returncode == 0 and "every token recomputes the whole text: " in result.stderr and
            "models/tide.titan:" in result.stderr)
    return good, result.stderr


def sampling():
    """A prompt's random continuation depends on the seed and its number, not on other prompts."""
    exe, family = program_of("llama2", "llama2"), "llama2"
    options = ["--temperature", "1.5", "--top-k", "40", "--seed", "5"]
    one, again = generate(exe, family, *options), generate(exe, family, *options)
    other = generate(exe, family, *options[:-1], "6")
    good = one == again and one != other
    return good, f"    {one}\n    {again}\n    {other}"


def sampled_distribution():
    """Sampled tokens have the probabilities that transformers computes from the same logits."""
    try:
        import transformers  # noqa: F401
    except ImportError:
        return True, "    skipped: without the Python package transformers"
    exe, weights = program_of("llama2", "llama2"), weights_of("llama2")
    prompts = OUT / "llama2" / "copies.jsonl"
    prompts.write_text((json.dumps({"prompt": distribution.PROMPT}) + "\n") * distribution.COPIES)

    def draw(options: list[str]) -> list[int]:
        return distribution.tokens_of(call(
            [exe, "generate", "--init-from", weights, "--prompts", prompts, "--json", "--max-tokens", "1", "--seed", "3",
             *options], env=environment_of({}), timeout=300))

    module = importlib.import_module("models.llama2")
    logits = module.logits(load_file(weights), torch.tensor([list(distribution.PROMPT.encode())]))[0, -1]
    return distribution.compare(draw, logits)


def stops():
    """A continuation ends before a stop text and before a stop token."""
    exe, family = program_of("llama2", "llama2"), "llama2"
    whole = cached_tokens(family)[1]
    # A stop text must be UTF-8: take an ASCII character that the model writes.
    at = next(i for i, token in enumerate(whole) if 32 < token < 127)
    by_token = generate(exe, family, "--stop-token", str(whole[at]))[1]
    by_text = generate(exe, family, "--stop", chr(whole[at]))[1]
    good = (by_token["tokens"] == whole[:at] and by_token["finish"] == "stop" and
            by_text["text"] == by_token["text"] and by_text["finish"] == "stop")
    return good, f"    {whole}\n    {by_token}\n    {by_text}"


def tokenizer_of() -> Path:
    folder = OUT / "tokenizer"
    with lock_product(folder / "made"):
        if not (folder / "tokenizer.json").exists():
            makers.byte_pairs(folder)
    return folder


def tokenizer():
    """Prompts and texts are encoded and decoded as by the `tokenizers` library, on one process and on two. A chat
    template changes the prompt."""
    import tokenizers
    folder = tokenizer_of()
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    one = generate(program_of("wide", "wide"), "wide", "--tokenizer", folder)
    two = generate(program_of("wide", "wide_mesh"), "wide", "--tokenizer", folder, processes=2)
    chat = generate(program_of("wide", "wide"), "wide", "--tokenizer", folder, "--chat")
    good = one == two and chat != one and all(
        written["text"] == library.decode(written["tokens"]) for written in one + chat)
    return good, f"    {one}\n    {two}\n    {chat}"


def lost_tokenizer():
    """A tokenizer process that cannot start, or that ends early, is an immediate error on two processes."""
    exe = program_of("wide", "wide_mesh")
    command = by_torchrun(2, [exe, "generate", "--init-from", weights_of("wide"), "--prompt", "a", "--tokenizer",
                              tokenizer_of()])
    outputs = []
    for tool, words in (("/no/such/tool", "cannot start /no/such/tool"), ("/bin/true", "/bin/true has ended")):
        result = subprocess.run(command, capture_output=True, text=True, timeout=100,
                                env=environment_of({"TITAN_PREPARE": tool}))
        outputs.append(result.stderr)
        if result.returncode == 0 or words not in result.stderr:
            return False, result.stderr
    return True, "\n".join(outputs)


def cases(everything: bool):
    for family in FAMILIES if everything else sample_by_commit(SAMPLE, 2):
        yield f"{family} without caches", partial(without_caches, family)
        yield f"{family} in PyTorch", partial(in_pytorch, family)
        yield f"{family} on tp 2", partial(on_two, family)
        yield f"{family} together", partial(together, family)
        if everything:
            yield f"{family} together on tp 2", partial(together_on_two, family)
            yield f"{family} on tp 2 without caches", partial(on_two, family, "--no-kv-cache")
    yield "without a program for positions", falls_back
    yield "together on tp 2", partial(together_on_two, "gemma2")
    yield "sampling together", partial(together, "llama2", "--temperature", "1.5", "--seed", "5")
    yield "ranks of data", on_data_ranks
    for family in STAGED_FAMILIES if everything else sample_by_commit(STAGED_FAMILIES, 3):
        yield f"{family} on stages", partial(on_stages, family, family, 2)
    for family in STAGED_TP if everything else STAGED_TP[:1]:
        yield f"{family} on stages and tp", partial(on_stages, family, f"{family}_tp", 4)
    yield "in any company", independent_of_batch
    yield "sampling", sampling
    yield "sampled distribution", sampled_distribution
    yield "stops", stops
    yield "tokenizer", tokenizer
    yield "lost tokenizer", lost_tokenizer


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="all families"))
    report = Report()
    report.cases(cases(arguments.all or arguments.names), arguments.names)
    report.end()


if __name__ == "__main__":
    main()
