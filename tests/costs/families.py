"""The families of the standard library as plain arithmetic: the parameters of a layer, and what a token costs in it.

Nothing here comes from the compiler or from stdlib/: shapes are those of the papers and of the published config.json
files, written down a second time. A parameter is the tuple of its dimensions' names.
"""

from dataclasses import dataclass, field

# Published sizes. `k` key heads with `g` queries each of `d` elements; `f` the width of the MLP; `v` the vocabulary.
LLAMA3 = {"k": 8, "d": 128, "v": 128256}
SIZES = {
    "Llama2_7B": ("llama", dict(L=32, e=4096, k=32, g=1, d=128, f=11008, v=32000)),
    "Llama3_1B": ("llama_tied", dict(LLAMA3, L=16, e=2048, g=4, d=64, f=8192)),
    "Llama3_8B": ("llama", dict(LLAMA3, L=32, e=4096, g=4, f=14336)),
    "Llama3_70B": ("llama", dict(LLAMA3, L=80, e=8192, g=8, f=28672)),
    "Llama3_405B": ("llama", dict(LLAMA3, L=126, e=16384, g=16, f=53248)),
    "Mistral_7B": ("llama", dict(L=32, e=4096, k=8, g=4, d=128, f=14336, v=32000, window=4096)),
    "Phi3_Mini": ("llama", dict(L=32, e=3072, k=32, g=1, d=96, f=8192, v=32064, window=2047)),
    "Qwen2_5_7B": ("qwen2", dict(L=28, e=3584, k=4, g=7, d=128, f=18944, v=152064)),
    "Qwen3_8B": ("qwen3", dict(L=36, e=4096, k=8, g=4, d=128, f=12288, v=151936)),
    "Qwen3_30B_A3B": ("qwen3_moe", dict(L=48, e=2048, k=4, g=8, d=128, f=768, v=151936, x=128, active=8)),
    "Gemma2_2B": ("gemma2", dict(L=26, e=2304, k=4, g=2, d=256, f=9216, v=256000, window=4096, every_other=True)),
    "Olmo2_7B": ("olmo2", dict(L=32, e=4096, k=32, g=1, d=128, f=11008, v=100352)),
    "Gpt2_Small": ("gpt2", dict(L=12, e=768, k=12, g=1, d=64, f=3072, v=50257, c=1024)),
    "Gpt2_XL": ("gpt2", dict(L=48, e=1600, k=25, g=1, d=64, f=6400, v=50257, c=1024)),
    "Phi_2": ("phi", dict(L=32, e=2560, k=32, g=1, d=80, f=10240, v=51200)),
    "Mixtral_8x7B": ("mixtral", dict(L=32, e=4096, k=8, g=4, d=128, f=14336, v=32000, x=8, active=2)),
    "GptOss_20B": ("gpt_oss", dict(L=24, e=2880, k=8, g=8, d=64, f=2880, v=201088, x=32, active=4, window=128,
                                   every_other=True)),
    "DeepSeek_V2_Lite": ("deepseek", dict(L=26, dense=1, e=2048, h=16, f=10944, F=1408, S=2816, x=64, active=6, p=128,
                                          t=64, w=128, r=512, v=102400)),
    "DeepSeek_V3": ("deepseek_v3", dict(L=58, dense=3, e=7168, h=128, f=18432, F=2048, S=2048, x=256, active=8, p=128,
                                        t=64, w=128, r=512, q=1536, v=129280)),
    "Tide_Small": ("tide", dict(L=12, e=768, f=6144, v=256)),
}
MODULES = {"Llama": "llama", "Mistral": "llama", "Phi3": "phi3", "Qwen2": "qwen2", "Qwen3": "qwen3", "Gemma2": "gemma2",
           "Olmo2": "olmo2", "Gpt2": "gpt2", "Phi": "phi", "Mixtral": "mixtral", "GptOss": "gpt_oss",
           "DeepSeek": "deepseek", "Tide": "tide"}
# The names of these dimensions in maps (`k` is `heads` where all heads have keys of their own).
NAMES = {"e": "embed", "k": "kv_heads", "g": "group", "d": "head", "f": "ffn", "v": "vocab", "x": "experts",
         "h": "heads", "F": "expert_ffn", "S": "ffn", "c": "context", "w": "value", "r": "kv_rank", "q": "q_rank",
         "p": "plain", "t": "turned", "C": "choices", "o": "out"}


@dataclass
class Layer:
    """`count` equal layers. `saved` are the results that the backward pass reads and no elementwise operation
    recomputes: matrix products and attention, per token, with the layer's input."""
    count: int
    params: list
    active: dict = field(default_factory=dict)  # parameter -> share of it that computes a token
    saved: list = field(default_factory=list)
    last: list = field(default_factory=list)  # products whose results the backward pass does not read
    shared: bool = False  # the parameters of all layers are one set (Tide)


@dataclass
class Family:
    sizes: dict
    layers: list
    outer: list  # parameters beside the layers
    tied: bool
    head_names: dict  # dimension -> its name in maps, where it differs from NAMES
    caches: list  # elements that generation keeps per position, per layer group
    attention: tuple  # (elements of queries, elements of values) per token: what scores and sums multiply

    def size(self, param) -> int:
        total = 1
        for dim in param:
            total *= self.extent(dim)
        return total

    def extent(self, dim) -> int:
        return self.sizes["x"] if dim == "C" else self.sizes["e"] if dim == "o" else self.sizes[dim]

    def name(self, dim) -> str:
        return self.head_names.get(dim, NAMES[dim])

    def windows(self, seq: int) -> list[tuple[int, int]]:
        """(layers, positions that a query sees at most) for each kind of layer."""
        layers = sum(layer.count for layer in self.layers)
        window = min(self.sizes.get("window", seq), seq)
        if not self.sizes.get("every_other"):
            return [(layers, window)]
        return [((layers + 1) // 2, window), (layers // 2, seq)]


GROUPED = [("e", "k", "g", "d"), ("e", "k", "d"), ("e", "k", "d"), ("k", "g", "d", "e")]
HEADS = [("e", "k", "d")] * 3 + [("k", "d", "e")]
GLU = [("e", "f"), ("e", "f"), ("f", "e")]
MLP = [("e", "f"), ("f",), ("f", "e"), ("e",)]
QKV_BIAS = [("k", "g", "d"), ("k", "d"), ("k", "d")]
Q, KV = ("k", "g", "d"), ("k", "d")
# Llama's layer: its input, q, k, v, the result of attention, the residual stream after it, gate and up.
SAVED_GLU = [("e",), Q, KV, KV, Q, ("e",), ("f",), ("f",)]


def experts(sizes, width="f"):
    """Three matrices of each expert and the router; a token computes `active` of them."""
    params = [("x", "e", width), ("x", "e", width), ("x", width, "e"), ("e", "C")]
    share = sizes["active"] / sizes["x"]
    return params, {param: share for param in params[:3]}


def make(kind: str, sizes: dict) -> Family:
    s = sizes
    table, unembed, norm = ("v", "e"), ("e", "v"), ("e",)
    outer, tied, names = [table, norm, unembed], False, {}
    layers = []
    group = [(2 * s["k"] * s["d"],)] if "k" in s else []
    attention = (s["k"] * s["g"] * s["d"],) * 2 if "k" in s else (0, 0)

    def one(params, **more):
        layers.append(Layer(s["L"], params, **more))

    if kind in ("llama", "llama_tied"):
        one([norm, norm, *GROUPED, *GLU], saved=SAVED_GLU, last=[("f", "e")])
    elif kind == "qwen2":
        one([norm, norm, *GROUPED, *QKV_BIAS, *GLU], saved=SAVED_GLU, last=[("f", "e")])
    elif kind == "qwen3":
        # Queries and keys are normalised: both the product and its root mean square are read again.
        one([norm, norm, ("d",), ("d",), *GROUPED, *GLU], saved=[*SAVED_GLU, Q, KV], last=[("f", "e")])
    elif kind == "gemma2":
        # Results of both blocks, which norms read; the stream between them is recomputed from its input and the first.
        one([norm] * 4 + GROUPED + GLU, saved=[*SAVED_GLU, ("e",)])
        outer, tied = [table, norm], True
    elif kind == "olmo2":
        one([norm, norm, Q, KV, *GROUPED, *GLU], saved=[*SAVED_GLU, Q, KV, ("e",)])
    elif kind == "gpt2":
        one([norm] * 4 + HEADS + [KV] * 3 + [("e",)] + MLP, saved=[("e",), KV, KV, KV, KV, ("e",), ("f",)],
            last=[("f", "e")])
        outer, tied = [table, ("c", "e"), norm, norm], True
        names = {"k": "heads"}
    elif kind == "phi":
        one([norm, norm, *HEADS, KV, KV, KV, ("e",), *MLP], saved=[("e",), KV, KV, KV, KV, ("f",)], last=[("f", "e")])
        outer += [norm, ("v",)]
        names = {"k": "heads"}
    elif kind in ("mixtral", "qwen3_moe"):
        params, active = experts(s)
        more = [("d",), ("d",)] if kind == "qwen3_moe" else []
        one([norm, norm, *more, *GROUPED, *params], active=active, saved=SAVED_GLU[:-2], last=[("x", "f", "e")])
        names = {"f": "expert_ffn"} if kind == "mixtral" else {}
    elif kind == "gpt_oss":
        params, active = experts(s)
        one([norm, norm, ("k", "g"), *GROUPED, *QKV_BIAS, ("e",), *params, ("C",),
             ("x", "f"), ("x", "f"), ("x", "e")], active=active, saved=SAVED_GLU[:-2], last=[("x", "f", "e")])
        names = {"f": "expert_ffn"}
    elif kind in ("deepseek", "deepseek_v3"):
        query = ([("e", "q"), ("q",), ("q", "h", "p"), ("q", "h", "t")] if kind == "deepseek_v3"
                 else [("e", "h", "p"), ("e", "h", "t")])
        latent = [norm, norm, ("e", "r"), ("r",), ("e", "t"), ("r", "h", "p"), ("r", "h", "w"), ("h", "w", "e"), *query]
        params, active = experts(s, "F")
        # The latent vector, queries, keys and values of all heads, the result of attention.
        saved = [("e",), ("r",), ("h", "p"), ("h", "t"), ("h", "p"), ("h", "t"), ("h", "w"), ("h", "w"), ("e",)]
        layers.append(Layer(s["dense"], latent + GLU, saved=[*saved, ("f",), ("f",)], last=[("f", "e")]))
        layers.append(Layer(s["L"], latent + params + [("e", "S"), ("e", "S"), ("S", "e")], active=active,
                            saved=[*saved, ("S",), ("S",)], last=[("x", "F", "e"), ("S", "e")]))
        # Generation keeps the latent vector and the rotated key, which all heads share (DeepSeek-V2, section 2.1.2).
        group = [(s["r"] + s["t"],)]
        attention = (s["h"] * (s["p"] + s["t"]), s["h"] * s["w"])
    elif kind == "tide":
        # The residual stream and the sum of taps; both products; the stream before the MLP, and its product.
        one([norm] * 6 + [("e", "o"), ("e", "o")], saved=[("e",), ("e",), ("e",), ("e",)])
        layers.append(Layer(s["L"], [("e", "f"), ("f", "e")], saved=[("e",), ("f",)], last=[("f", "e")], shared=True))
        outer, tied = [table], True
    if kind == "llama_tied":
        outer, tied = [table, norm], True
    return Family(s, layers, outer, tied, names, group, attention)


def get_family(model: str) -> Family:
    return make(*SIZES[model])


def get_module(model: str) -> str:
    """The module of the standard library that declares the model."""
    stem = max((stem for stem in MODULES if model.startswith(stem)), key=len)
    return "models." + MODULES[stem]


def count_parameters(family: Family) -> int:
    return (sum(map(family.size, family.outer))
            + sum((1 if layer.shared else layer.count) * sum(map(family.size, layer.params))
                  for layer in family.layers))
