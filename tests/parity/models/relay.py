"""Layers composed of blocks that are passed as arguments, like modules in PyTorch. The program is
programs/relay.titan."""

from torch import Tensor
from torch.nn.functional import cross_entropy, gelu, leaky_relu, relu

from . import parts

WINDOW = 5
UNDECAYED = ()


def residual(x: Tensor, p: dict[str, Tensor], name: str, sublayer) -> Tensor:
    return x + sublayer(parts.rms_norm(x, p[f"{name}.norm"], 1e-5))


def attend(h: Tensor, p: dict[str, Tensor], window: int | None) -> Tensor:
    own = {name.removeprefix("attend."): tensor for name, tensor in p.items()}
    q, k, v = parts.grouped_queries(h, own | {"wq": own["wq"].unsqueeze(2)})  # groups of one
    return parts.heads_to_embed(parts.attention(q, k, v, window), own["wo"].unsqueeze(1))


def feed(h: Tensor, p: dict[str, Tensor]) -> Tensor:
    plain = gelu(h @ p["feed.w1"]) @ p["feed.w2"]
    if "feed.squared.w1" not in p:
        return plain
    squared = 2 * (relu(h @ p["feed.squared.w1"]).square() @ p["feed.squared.w2"])
    return 0.25 * plain + 0.75 * squared


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for index, p in enumerate(parts.layers(parameters)):
        window = WINDOW if index % 2 else None
        x = residual(x, p, "attend", lambda h: attend(h, p, window))
        x = residual(x, p, "feed", lambda h: feed(h, p))
    x = residual(x, parameters, "outer",
                 lambda h: residual(h, parameters, "outer.inner", lambda y: leaky_relu(y, 0.1)))
    return x @ parameters["table"].T


def loss(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(logits(parameters, tokens).flatten(0, 1), labels.flatten())
