"""Every head has its own matrices: tests/parity/programs/heads.titan describes the model."""

from torch import Tensor, einsum

from . import parts

UNDECAYED = ()


def shapes(layers, heads, embed, narrow, vocab) -> dict[str, tuple[int, ...]]:
    """The parameters of a model of these sizes."""
    block = {"down": (embed, heads, narrow), "pair": (embed, heads, 2, narrow), "up": (heads, narrow, embed)}
    result = {"table": (vocab, heads, embed), "unembed": (heads, embed, vocab)}
    for layer in range(layers):
        result |= {f"layers.{layer}.{name}": shape for name, shape in block.items()}
    return result


def logits(parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
    x = parameters["table"][tokens]
    for p in parts.layers(parameters):
        gate, linear = einsum("bske,ekpn->pbskn", x, p["pair"])
        hidden = einsum("bske,ekn->bskn", x, p["down"]) + gate * linear
        x = x + einsum("bskn,kne->bske", hidden, p["up"])
    return einsum("bske,kev->bsv", x, parameters["unembed"])
