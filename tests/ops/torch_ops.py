"""Definitions of the dialect's operations in PyTorch, on tensors with named dimensions.

Written from the documentation of the operations (dialects/titan/IR/*.td), independently of their
code. An operation without a definition fails the comparison.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1
DTYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64,
          "i1": torch.bool}


@dataclass
class Named:
    """A tensor and the names of its dimensions."""

    data: torch.Tensor
    dims: list[str]

    def to(self, dims: list[str]) -> torch.Tensor:
        """The tensor with its dimensions in the order of `dims`, 1 for missing ones."""
        data = self.data.permute([self.dims.index(d) for d in dims if d in self.dims])
        for i, dim in enumerate(dims):
            if dim not in self.dims:
                data = data.unsqueeze(i)
        return data


def read(described, widen: bool) -> Named:
    """A tensor of a case; floating-point tensors become float64 on request."""
    shape = [size for _, size in described["dims"]]
    dtype = DTYPES[described["type"]]
    data = torch.tensor(described["values"], dtype=torch.float64)
    data = data if widen and dtype.is_floating_point else data.to(dtype)
    return Named(data.reshape(shape), [name for name, _ in described["dims"]])


def elementwise(function):
    """A function of tensors that broadcast by name."""
    def run(attributes, results, *operands):
        dims, shape = results[0]
        return function(*[x.to(dims) for x in operands]).expand(shape)
    return run


def quotient(x, y):
    if x.is_floating_point():
        return x / y
    return torch.where(y == 0, 0, torch.div(x, torch.where(y == 0, 1, y), rounding_mode="trunc"))


def compare(attributes, results, x, y):
    functions = [torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge]
    dims, shape = results[0]
    return functions[attributes["predicate"]](x.to(dims), y.to(dims)).expand(shape)


def cast(attributes, results, x):
    return x.data.to(DTYPES[attributes["to"]])


def constant(attributes, results):
    return torch.tensor(attributes["value"], dtype=torch.float64)


def iota(attributes, results):
    return torch.arange(results[0][1][0])


def apply(attributes, results, parameter, gradient, m, rate):
    """The function @update of tests/ops/Programs.cpp."""
    m = 0.9 * m.data + 0.1 * gradient.data
    return parameter.data - rate.data * m / (m * m + 1).sqrt(), m


def contract(attributes, results, x, y, into=None):
    dims, shape = results[0]
    summed = [d for d in x.dims if d not in dims]
    product = x.to(dims + summed) * y.to(dims + summed)
    sums = (product.sum(list(range(len(dims), len(dims) + len(summed)))) if summed
            else product).reshape(shape)
    return sums if into is None else sums + into.to(dims)


def reduce(attributes, results, x):
    dims, _ = results[0]
    reduced = [i for i, d in enumerate(x.dims) if d not in dims]
    function = [torch.sum, torch.amax, torch.amin][attributes["kind"]]
    data = function(x.data, dim=reduced) if reduced else x.data
    return Named(data, [d for d in x.dims if d in dims]).to(dims)


def one_hot(indices: Named, along: str, size: int) -> Named:
    return Named(F.one_hot(indices.data, size).to(torch.float64), indices.dims + [along])


def gather(attributes, results, x, indices):
    along = attributes["along"]
    hot = one_hot(indices, along, x.data.shape[x.dims.index(along)])
    dims, _ = results[0]
    return (x.to(dims + [along]) * hot.to(dims + [along])).sum(-1)


def scatter(attributes, results, updates, indices, into=None):
    along = attributes["along"]
    dims, shape = results[0]
    hot = one_hot(indices, along, shape[dims.index(along)])
    summed = [d for d in dict.fromkeys(updates.dims + indices.dims) if d not in dims]
    product = updates.to(dims + summed) * hot.to(dims + summed)
    put = product.sum(list(range(len(dims), len(dims) + len(summed)))) if summed else product
    return put if into is None else put + into.to(dims)


def grouped_contract(attributes, results, x, y, indices, into=None):
    along = attributes["along"]
    dims, shape = results[0]
    size = shape[dims.index(along)] if along in dims else y.data.shape[y.dims.index(along)]
    factors = [x, y, one_hot(indices, along, size)]
    summed = [d for d in dict.fromkeys(sum((f.dims for f in factors), [])) if d not in dims]
    product = math.prod(f.to(dims + summed) for f in factors)
    put = product.sum(list(range(len(dims), len(dims) + len(summed)))) if summed else product
    return put.reshape(shape) if into is None else put + into.to(dims)


def reshape(attributes, results, x):
    return x.data.reshape(results[0][1])


def cut(attributes, results, x):
    at = x.dims.index(attributes["dim"])
    return x.data.narrow(at, attributes["offset"], results[0][1][at])


def pad(attributes, results, x):
    dims, shape = results[0]
    at = dims.index(attributes["dim"])
    behind = shape[at] - attributes["offset"] - x.data.shape[at]
    widths = [[0, 0] for _ in dims]
    widths[at] = [attributes["offset"], behind]
    return F.pad(x.data, sum(reversed(widths), []))  # PyTorch counts from the last dimension


def insert_slice(attributes, results, x, into, start):
    dim = attributes["dim"]
    at, slices = into.dims.index(dim), x.to(into.dims)
    offsets = torch.arange(slices.shape[at]).reshape([-1 if d == dim else 1 for d in into.dims])
    return into.data.scatter(at, (start.to(into.dims) + offsets).expand_as(slices), slices)


def rotary(attributes, results, x, start=None):
    """Rotates pairs of elements, as complex numbers, by position times theta^(-i/n) or listed
    angles."""
    dims = [d for d in x.dims if d not in (attributes["along"], attributes["dim"])]
    order = dims + [attributes["along"], attributes["dim"]]
    data = x.to(order)
    positions, n = data.shape[-2], data.shape[-1] // 2
    frequencies = (torch.tensor(attributes["frequencies"]) if "frequencies" in attributes
                   else attributes["theta"] ** (-torch.arange(n, dtype=torch.float64) / n))
    first = 0 if start is None else start.to(dims)[..., None]
    angles = (first + torch.arange(positions, dtype=torch.float64))[..., None] * frequencies
    angles = -angles if attributes.get("inverse") else angles
    pairs = (n, 2) if attributes.get("interleaved") else (2, n)
    split = data.unflatten(-1, pairs)
    a, b = split.unbind(-1 if attributes.get("interleaved") else -2)
    turned = (a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos())
    joined = torch.stack(turned, -1 if attributes.get("interleaved") else -2).flatten(-2)
    return Named(joined, order).to(x.dims)


class Scores:
    """The masked scores of attention, [outer dims, query, key], for attention and its gradient."""

    def __init__(self, attributes, q, k, v, documents, start=None):
        along, head = attributes["along"], attributes["head"]
        self.outer = [d for d in q.dims if d not in (along, head)]
        self.rows, self.order = self.outer + [along], self.outer + [along, head]
        own = [d for d in v.dims if d == head or d not in k.dims]
        self.value_dims = self.rows + own
        self.q, self.k, self.v = q.to(self.order), k.to(self.order), v.to(self.value_dims)
        self.scale, cap = attributes["scale"], attributes.get("soft_cap")
        # `slope` is the derivative of the scores by the products of queries and keys.
        scores, self.slope = self.scale * self.q @ self.k.transpose(-1, -2), self.scale
        if cap:
            scores = cap * (scores / cap).tanh()
            self.slope = self.scale * (1 - (scores / cap) ** 2)
        first = 0 if start is None else start.to(self.outer)[..., None]
        i, j = first + torch.arange(scores.shape[-2]), torch.arange(scores.shape[-1])
        distance = i[..., None] - j
        seen = torch.ones_like(distance, dtype=torch.bool)
        if attributes.get("causal"):
            seen = seen & (distance >= 0)
        if attributes.get("window"):
            seen = seen & (distance.abs() < attributes["window"])
        if documents:
            ids = documents.to(self.rows)
            outer = torch.broadcast_shapes(ids.shape[:-1], i.shape[:-1])
            ids, i = (x.expand(*outer, x.shape[-1]) for x in (ids, i))
            seen = seen & (ids.gather(-1, i).unsqueeze(-1) == ids.unsqueeze(-2))
        self.scores = scores.masked_fill(~seen, -math.inf)


def attention(attributes, results, q, k, v, *rest):
    """An operand after `v` without a dimension of positions is the position of the first query."""
    documents = next((x for x in rest if attributes["along"] in x.dims), None)
    start = next((x for x in rest if attributes["along"] not in x.dims), None)
    s = Scores(attributes, q, k, v, documents, start)
    result = Named(s.scores.softmax(-1) @ s.v, s.value_dims).to(results[0][0])
    return result, Named(s.scores.logsumexp(-1), s.rows).to(results[1][0])


def attention_grad(attributes, results, cotangent, q, k, v, y, lse, *rest):
    """dS = P * (dP - sum(dY Y) + dL), with P from the given lse."""
    real = [x for x in rest if x.data.dtype.is_floating_point]
    documents = [x for x in rest if not x.data.dtype.is_floating_point]
    s = Scores(attributes, q, k, v, documents[0] if documents else None)
    dy, ys = cotangent.to(s.value_dims), y.to(s.value_dims)
    p = (s.scores - lse.to(s.rows).unsqueeze(-1)).exp()
    delta = (dy * ys).sum(-1, keepdim=True)
    if real:
        delta = delta - real[0].to(s.rows).unsqueeze(-1)
    ds = p * (dy @ s.v.transpose(-1, -2) - delta) * s.slope
    def of_keys(data, like, order):  # summed over dimensions that only the queries have
        away = [i for i, d in enumerate(s.outer) if d not in like.dims]
        data = data.sum(away) if away else data
        return Named(data, [d for d in order if d in like.dims]).to(like.dims)
    return (Named(ds @ s.k, s.order).to(q.dims),
            of_keys(ds.transpose(-1, -2) @ s.q, k, s.order),
            of_keys(p.transpose(-1, -2) @ dy, v, s.value_dims))


def top_k(attributes, results, x):
    at = x.dims.index(attributes["along"])
    values, indices = x.data.sort(dim=at, descending=True, stable=True)
    k = results[0][1][at]
    return values.narrow(at, 0, k), indices.narrow(at, 0, k)


def cumulative_sum(attributes, results, x):
    at = x.dims.index(attributes["along"])
    if attributes.get("reverse"):
        return x.data.flip(at).cumsum(at).flip(at)
    return x.data.cumsum(at)


def cumulative_count(attributes, results, x):
    """The exclusive prefix sum of the one-hot encoding, at each index."""
    over = attributes["over"]
    rest = [d for d in x.dims if d not in over]
    rows = x.to(rest + over)
    flat = rows.reshape([*rows.shape[:len(rest)], -1])
    hot = F.one_hot(flat.clamp(-1, attributes["size"]) + 1, attributes["size"] + 2)
    before = (hot.cumsum(-2) - hot).gather(-1, flat.unsqueeze(-1).clamp(-1, attributes["size"]) + 1).squeeze(-1)
    inside = (flat >= 0) & (flat < attributes["size"])
    counts = torch.where(inside, before, torch.zeros_like(before)).reshape(rows.shape)
    return Named(counts, rest + over).to(x.dims)


def random(attributes, results, seed, step, *starts):
    """Philox4x32-10 (Salmon et al., SC'11), whose upper counter words are the keys, folded."""
    dims, shape = results[0]
    uncut, first = dict(zip(dims, shape)), dict.fromkeys(dims, 0)
    for (name, size), start in zip(attributes["whole"], starts):
        uncut[name], first[name] = size, int(start.data)
    index = torch.arange(math.prod(uncut.values())).reshape(list(uncut.values()))
    for at, (name, size) in enumerate(zip(dims, shape)):
        index = index.narrow(at, first[name], size)
    stream, keys = stream_of(attributes["stream"]), fold([int(seed.data), int(step.data)])
    return torch.tensor([draw_number(attributes["kind"], stream, keys, i) for i in index.reshape(-1).tolist()],
                        dtype=torch.float64).reshape(shape)


def draw(kind, stream, keys, shape):
    """A random tensor of a program, "uniform" or "normal": its stream is the name of a variable and a number."""
    stream, keys = stream_of(stream), fold(keys)
    return torch.tensor([draw_number(["uniform", "normal"].index(kind), stream, keys, i)
                         for i in range(math.prod(shape))], dtype=torch.float64).reshape(shape)


def stream_of(name):
    stream = 0xcbf29ce484222325
    for byte in b"tensor:" + name.encode():
        stream = ((stream ^ byte) * 0x100000001b3) & MASK
    return stream


def fold(keys):
    """Of SplitMix64 (Steele et al., OOPSLA'14)."""
    state = 0
    for key in keys:
        state = ((state ^ key) + 0x9E3779B97F4A7C15) & MASK
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & MASK
        state ^= state >> 31
    return state


def draw_number(kind, stream, keys, index):
    """Element `index` of a random tensor: uniform in [0, 1) for kind 0, else normal (Box-Muller)."""
    low = (1 << 32) - 1
    c, k = [index & low, index >> 32, keys & low, keys >> 32], [stream & low, stream >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & low, a >> 32 ^ c[3] ^ k[1], a & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    if kind == 0:
        return (c[0] >> 8) * 2.0**-24
    u, v = (c[0] + 1) * 2.0**-32, c[1] * 2.0**-32
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


OPS = {
    "neg": elementwise(torch.neg), "exp": elementwise(torch.exp), "log": elementwise(torch.log),
    "sqrt": elementwise(torch.sqrt), "rsqrt": elementwise(torch.rsqrt),
    "tanh": elementwise(torch.tanh), "sigmoid": elementwise(torch.sigmoid),
    "erf": elementwise(torch.erf), "sin": elementwise(torch.sin), "cos": elementwise(torch.cos),
    "floor": elementwise(torch.floor),
    "add": elementwise(torch.add), "sub": elementwise(torch.sub), "mul": elementwise(torch.mul),
    "pow": elementwise(torch.pow),
    "div": elementwise(quotient), "maximum": elementwise(torch.maximum),
    "minimum": elementwise(torch.minimum), "select": elementwise(torch.where),
    "expand": elementwise(lambda x: x), "compare": compare, "cast": cast, "copy": elementwise(lambda x: x), "constant": constant,
    "iota": iota, "apply": apply, "contract": contract, "grouped_contract": grouped_contract, "reduce": reduce, "gather": gather, "scatter": scatter,
    "check_index": reshape, "rename": reshape, "split": reshape, "merge": reshape, "sharding_constraint": reshape,
    "stop_gradient": lambda attributes, results, x: x.data.detach(), "slice": cut, "pad": pad,
    "insert_slice": insert_slice,
    "rotary": rotary, "attention": attention, "attention_grad": attention_grad,
    "top_k": top_k, "cumulative_sum": cumulative_sum, "cumulative_count": cumulative_count, "random": random,
}
