"""Two MLP-Mixers (Tolstikhin et al. 2021, arXiv 2105.01601), one for each half of a sample, trained
contrastively in both directions (Radford et al. 2021, arXiv 2103.00020). The program is
programs/towers.titan."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from . import parts

LETTERS = 4  # in a patch
TEMPERATURE = 0.2
UNDECAYED = ()


def tower(patches: Tensor, parameters: dict[str, Tensor], name: str) -> Tensor:
    """A vector of length 1 of patches[batch, patch, feature]."""
    x = patches
    own = {n.removeprefix(name + "."): t
           for n, t in parameters.items() if n.startswith(name + ".")}
    for p in parts.layers(own):
        h = parts.rms_norm(x, p["mix_norm"], 1e-5).transpose(1, 2)
        x = x + (parts.gelu_tanh(h @ p["mix_in"]) @ p["mix_out"]).transpose(1, 2)
        h = parts.rms_norm(x, p["feature_norm"], 1e-5)
        x = x + parts.gelu_tanh(h @ p["feature_in"] + p["feature_bias"]) @ p["feature_out"]
    y = x.mean(1) @ own["out"]
    return y / torch.sqrt(y.square().sum(-1, keepdim=True) + 1e-6)


def loss(parameters: dict[str, Tensor], tokens: Tensor, labels: Tensor) -> Tensor:
    batch, seq = tokens.shape
    patches = parameters["table"][tokens].reshape(batch, 2, seq // (2 * LETTERS), -1)
    first = tower(patches[:, 0], parameters, "first")
    second = tower(patches[:, 1], parameters, "second")
    similarity = first @ second.T / TEMPERATURE
    matching = torch.arange(batch)
    return (cross_entropy(similarity, matching) + cross_entropy(similarity.T, matching)) / 2
