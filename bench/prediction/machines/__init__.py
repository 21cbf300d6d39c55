"""The machines of the tables, and which of their constants are fitted."""

from fit import Fit

KERNELS = ("launch", "products.efficiency", "products.depth", "memory.efficiency")
ATTENTION = ("attention.forward", "attention.backward")
NODE = ("links.nvlink.efficiency", "links.nvlink.latency")
NETWORK = ("links.network.efficiency", "links.network.latency")
FITS = (
    # Its products and attention are published, also the dependence on their sizes.
    Fit("b200-simumax", "b200", ("launch", "products.efficiency", "memory.efficiency", *NODE), "SimuMax's B200, Megatron"),
    Fit("a100-vtrain-one", "a100", KERNELS + ATTENTION + NODE, "vTrain's A100, one node, attention not fused"),
    Fit("a100-vtrain-many", "a100", KERNELS + ATTENTION + NODE + NETWORK, "vTrain's A100, attention not fused"),
    Fit("a100-foundry", "a100", KERNELS + ATTENTION + NODE + NETWORK, "MosaicML's A100 80 GB, 200 Gbit/s per GPU"),
    Fit("a100-40gb-foundry", "a100", KERNELS + ATTENTION + NODE + NETWORK, "MosaicML's A100 40 GB, 200 Gbit/s per GPU",
        {"memory.bytes": 40 * 2 ** 30, "memory.bandwidth": 1.555e12}),
    Fit("h100-foundry", "h100", KERNELS + ATTENTION + NODE + NETWORK, "MosaicML's H100, 400 Gbit/s per GPU"),
    Fit("a100-ibm", "a100", (), "IBM's A100 80 GB, 400 Gbit/s per node", {"links.network.bandwidth": 6.25e9}),
)
