"""The distribution of sampled tokens, against the probabilities of transformers' own processors by a chi-square test.

One prompt is continued by one token, many times; each copy draws its own number. The seed is constant, so the outcome is."""

import json
from collections import Counter

import torch

PROMPT, COPIES = "In the beginning", 3000
SETTINGS = {
    "temperature": {"temperature": 1.5},
    "top-k": {"temperature": 1.2, "top_k": 12},
    "top-p": {"temperature": 1.2, "top_p": 0.7},
    "min-p": {"temperature": 1.5, "min_p": 0.2},
    "all": {"repetition_penalty": 1.7, "temperature": 1.3, "top_k": 40, "top_p": 0.9, "min_p": 0.02},
}


def probabilities(logits: torch.Tensor, text: list[int], setting: dict) -> torch.Tensor:
    """As `GenerationMixin._get_logits_processor` orders them."""
    from transformers.generation import logits_process as hf
    made = {"repetition_penalty": hf.RepetitionPenaltyLogitsProcessor, "temperature": hf.TemperatureLogitsWarper,
            "top_k": hf.TopKLogitsWarper, "top_p": hf.TopPLogitsWarper, "min_p": hf.MinPLogitsWarper}
    scores = logits.clone()[None]
    for name, processor in made.items():
        if name in setting:
            scores = processor(setting[name])(torch.tensor([text]), scores)
    return scores[0].softmax(-1)


def chi_square(counts: Counter, expected: torch.Tensor, draws: int) -> tuple[float, float]:
    """The statistic and its limit, which a right distribution exceeds once in 10,000 tests (Wilson and Hilferty 1931).
    Rare tokens are one class."""
    means = expected * draws
    common = [token for token in range(len(means)) if means[token] >= 5]
    rest = draws - sum(counts[token] for token in common), draws - float(means[common].sum())
    statistic = sum((counts[token] - float(means[token])) ** 2 / float(means[token]) for token in common)
    classes = len(common) - 1
    if rest[1] >= 5:
        statistic += (rest[0] - rest[1]) ** 2 / rest[1]
        classes += 1
    z = 3.719
    return statistic, classes * (1 - 2 / (9 * classes) + z * (2 / (9 * classes)) ** 0.5) ** 3


def options_of(setting: dict) -> list[str]:
    return [word for name, value in setting.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def compare(draw, logits: torch.Tensor) -> tuple[bool, str]:
    """`draw(options)` returns the sampled tokens; `logits` are those after the prompt."""
    text, counts, lines = list(PROMPT.encode()), {}, []
    wanted = {name: probabilities(logits, text, setting) for name, setting in SETTINGS.items()}
    for name, setting in SETTINGS.items():
        counts[name] = Counter(draw(options_of(setting)))
    good = True
    for name, expected in wanted.items():
        for other, seen in counts.items():
            statistic, limit = chi_square(seen, expected, COPIES)
            impossible = sum(count for token, count in seen.items() if expected[token] == 0)
            fits = statistic <= limit and not impossible
            good &= fits == (name == other)  # draws of one setting do not fit another one
            if name == other or fits:
                lines.append(f"    draws of {other} by {name}: {statistic:.1f} of {limit:.1f}, {impossible} impossible")
    return good, "\n".join(lines)


def tokens_of(output: str) -> list[int]:
    return [json.loads(line)["tokens"][0] for line in output.splitlines()]
