"""Draws small programs from a seed: a model, axis rules, a run.

    generate.py SEED          prints one program

A program is text: each statement is one line, or a block with its braces, so that shrink.py can
remove lines. Values stay within a few units of zero and functions have no jumps, so that finite
differences of the loss approximate its gradient. The optimizer's eps is large enough to suppress
rounding errors.
"""

import itertools
import random
import re
import sys
from math import prod

from indexed import IndexStatements

UNARY = ["tanh({})", "sigmoid({})", "-{}", "exp(-({0} * {0}))", "sqrt({0} * {0} + 0.5)",
         "log({0} * {0} + 1)", "rsqrt({0} * {0} + 1)", "0.5 * {} + 0.3", "1 - {}", "{} ** 2",
         "max({}, 0)", "min({}, 0.4)", "silu({})", "gelu_tanh({})", "tanh({0} + 0 * stop_gradient({0}))",
         "soft_cap({}, 2.0)", "sin_like({})", "{} / 3"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{0} / ({1} * {1} + 1)", "max({}, {})", "min({}, {})",
          "where({0} > {1}, {0}, {1})", "where({0} <= {1}, {0} - {1}, 0.3 * ({0} - {1}))",
          "blend({}, 0.5 - {})"]  # a blend of a value with itself differs from it by rounding alone
LIMIT = 256  # elements of a value
# The schedules of pipelines by the stages of a rank.
SCHEDULES = {1: ["gpipe", "1f1b", "zb_h1"],
             2: ["interleaved_1f1b", "looped_bfs", "interleaved_zb", "zbv", "dualpipev"]}


# The routers of the standard library, and what else than weights and experts they return.
ROUTERS = {"SoftmaxRouter(x, deviation = 0.5)": [], "SoftmaxRouter(x, false, 1.5, deviation = 0.5)": [],
           "BiasedRouter(x, deviation = 0.5)": [], "BalancedRouter(x, deviation = 0.5)": ["batch"]}


class Value:
    """A visible value of the program: its name and its dimensions in their order."""

    def __init__(self, name: str, dims: list[str]):
        self.name, self.dims = name, dims


class Body(IndexStatements):
    """The statements of one scope and its visible values."""

    def __init__(self, program: "Program", values: list[Value], depth: int, is_model: bool,
                 repeats: tuple[str, ...] = ()):
        self.program, self.values, self.depth, self.repeats = program, list(values), depth, repeats
        self.is_model, self.random, self.lines = is_model, program.random, []

    # Choices.

    def size(self, dims: list[str]) -> int:
        return prod(self.program.sizes[d] for d in dims)

    def pick(self, *, having: str | None = None) -> Value | None:
        """A value, with a preference for late ones."""
        fitting = [v for v in self.values if having is None or having in v.dims]
        if not fitting:
            return None
        return fitting[-1 - min(int(self.random.expovariate(0.5)), len(fitting) - 1)]

    def dim_of(self, value: Value | None, but: tuple = ("batch",)) -> str | None:
        dims = [d for d in value.dims if d not in but] if value else []
        return self.random.choice(dims) if dims else None

    def shuffled(self, dims: list[str]) -> list[str]:
        dims = list(dims)
        if self.random.random() < 0.3:
            self.random.shuffle(dims)
        return dims

    # Output.

    def emit(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def let(self, expression: str, dims: list[str], declared: bool | None = None) -> Value | None:
        if self.size(dims) > LIMIT or len(dims) > 5:
            return None
        value = Value(self.program.fresh("v"), list(dims))
        declare = self.random.random() < 0.3 if declared is None else declared
        brackets = f"[{', '.join(self.shuffled(dims))}]" if declare and dims else ""
        self.emit(f"let {value.name}{brackets} = {expression}")
        self.values.append(value)
        return value

    def param(self, dims: list[str], start: str | None = None) -> str:
        name = self.program.fresh("w")
        start = start or self.random.choice(["~ normal(0.5)", "~ normal(0.4)", "~ uniform(0.8)",
                                             "~ truncated_normal(0.5, cut = 2)"])
        frozen = " { frozen = true }" if self.random.random() < 0.08 else ""
        self.emit(f"param {name}[{', '.join(self.shuffled(dims))}] {start}{frozen}")
        return name

    # Statements.

    def unary(self):
        value = self.pick()
        self.let(self.random.choice(UNARY).format(value.name), value.dims)

    def binary(self):
        wide = self.pick()
        narrow = [v for v in self.values if set(v.dims) <= set(wide.dims)]
        other = self.random.choice(narrow)
        if self.random.random() < 0.3:
            self.let(self.random.choice(BINARY).format(other.name, wide.name), wide.dims)
        else:
            self.let(self.random.choice(BINARY).format(wide.name, other.name), wide.dims)

    def project(self):
        """A contraction with a parameter: some dimensions are summed, some added, some batched."""
        value = self.pick()
        if not self.dim_of(value, ("batch", "seq")):
            return
        inner = [d for d in value.dims if d not in ("batch", "seq")]
        summed = self.random.sample(inner, self.random.randint(1, min(2, len(inner))))
        batched = [d for d in inner if d not in summed and self.random.random() < 0.2]
        kept = [d for d in value.dims if d not in summed]
        new = [d for d in self.program.model_dims if d not in value.dims]
        added = self.random.sample(new, min(len(new), self.random.randint(0, 2)))
        if not added and self.random.random() < 0.7:
            return
        if self.size(summed + batched + added) <= LIMIT and self.size(kept + added) <= LIMIT:
            weight = self.param(summed + batched + added)
            pair = self.random.choice(["{} @ {}", "{1} @ {0}"]).format(value.name, weight)
            self.let(f"0.7 * ({pair})" if self.random.random() < 0.3 else pair, kept + added, True)

    def project_back(self):
        """Projects a value to the width of the iteration argument, so that it can be added to it."""
        value = self.pick()
        goal = self.program.values_dims
        if not set(goal[:-1]) <= set(value.dims) or goal[-1] in value.dims:
            return
        summed = [d for d in value.dims if d not in goal]
        if summed:
            weight = self.param(summed + [goal[-1]])
            self.let(f"{value.name} @ {weight}", goal, True)

    def contract(self):
        """A contraction of two values: sums over some common dimensions, keeps all others."""
        a, b = self.pick(), self.random.choice(self.values)
        both = [d for d in a.dims if d in b.dims]
        if not both:
            return
        gone = self.random.sample(both, self.random.randint(1, len(both)))
        dims = [d for d in dict.fromkeys(a.dims + b.dims) if d not in gone]
        value = self.let(f"{a.name} @ {b.name}" if self.random.random() < 0.5 else
                         f"{b.name} @ {a.name}", dims, True) if dims else None
        if value:
            self.let(f"tanh({value.name} / {self.size(gone)})", dims)

    def reduce(self):
        value = self.pick()
        over = self.dim_of(value, ())
        if over and len(value.dims) > 1:
            kind = self.random.choice(["mean", "mean", "sum", "max", "min"])
            dims = [d for d in value.dims if d != over]
            self.let(f"{kind}({value.name}, over {over})", dims)

    def softmax(self):
        value = self.pick()
        over = self.dim_of(value)
        if over:
            self.let(f"softmax({value.name}, over {over})", value.dims)

    def norm(self):
        value = self.pick()
        over = self.dim_of(value, ("batch", "seq"))
        if not over:
            return
        if self.random.random() < 0.6:
            weight = self.param([over], self.random.choice(["= 1", "~ normal(1)"]))
            self.let(f"rms_norm({value.name}, {weight}, over {over}, eps = 0.1)", value.dims)
        else:
            weight, bias = self.param([over], "= 1"), self.param([over])
            self.let(f"layer_norm({value.name}, {weight}, {bias}, over {over}, eps = 0.1)", value.dims)

    def expand(self):
        value = self.pick()
        new = [d for d in [*self.program.model_dims, "seq", "batch"] if d not in value.dims]
        if new:
            over = self.random.choice(new)
            self.let(f"expand({value.name}, {over})", value.dims + [over])

    def rename(self):
        value = self.pick()
        old = self.dim_of(value)
        if old:
            new = self.program.new_dim(self.program.sizes[old])
            dims = [new if d == old else d for d in value.dims]
            other = self.let(f"{value.name}[{old} as {new}]", dims, False)
            if other and self.random.random() < 0.5:
                self.let(f"0.5 * {other.name}[{new} as {old}]", value.dims)

    def split(self):
        value = self.pick()
        whole = self.dim_of(value)
        size = self.program.sizes[whole] if whole else 1
        if size % 2 == 0 and size > 2:
            outer, inner = self.program.new_dim(2), self.program.new_dim(size // 2)
            if self.random.random() < 0.5:
                outer, inner = inner, outer
            known = self.random.choice([outer, inner])
            self.emit(f"dims {known} = {self.program.sizes[known]}")
            at = value.dims.index(whole)
            parts = self.let(f"split({value.name}, {whole} as ({outer}, {inner}))",
                             value.dims[:at] + [outer, inner] + value.dims[at + 1:], False)
            if parts and self.random.random() < 0.5:
                self.let(f"merge(tanh({parts.name}), ({outer}, {inner}) as {whole})", value.dims)

    def merge(self):
        value = self.pick()
        if len(value.dims) < 3:
            return
        pair = value.dims[-2:]
        new = self.program.new_dim(self.size(pair))
        self.let(f"merge({value.name}, ({pair[0]}, {pair[1]}) as {new})", value.dims[:-2] + [new], False)

    def slice(self):
        value = self.pick()
        dim = self.dim_of(value)
        size = self.program.sizes[dim] if dim else 1
        if size < 2:
            return
        if self.random.random() < 0.3:
            rest = [d for d in value.dims if d != dim]
            self.let(f"{value.name}[{dim}: {self.random.randrange(size)}]", rest)
            return
        cut = self.random.randint(1, size - 1)
        front, back = self.program.new_dim(cut), self.program.new_dim(size - cut)
        def dims(part):
            return [part if d == dim else d for d in value.dims]
        a = self.let(f"{value.name}[{dim}: 0..{cut} as {front}]", dims(front), False)
        b = self.let(f"{value.name}[{dim}: {cut}.. as {back}]", dims(back), False)
        if a and b and self.random.random() < 0.7:
            self.let(f"concat({b.name} along {back}, {a.name} along {front} as {dim})", value.dims)

    def concat(self):
        value = self.pick()
        dim = self.dim_of(value)
        if dim:
            new = self.program.new_dim(2 * self.program.sizes[dim])
            self.let(f"concat({value.name} along {dim}, tanh({value.name}) along {dim} as {new})",
                     [new if d == dim else d for d in value.dims], False)

    def lookup(self):
        """Rows of a parameter by tokens or positions."""
        new = [d for d in self.program.model_dims if d != "vocab"]
        dims = self.random.sample(new, self.random.randint(1, 2))
        if self.size(["vocab"] + dims) > LIMIT:
            return
        if self.random.random() < 0.6 and self.is_model:
            self.let(f"{self.param(['vocab'] + dims)}[vocab: tokens]", ["batch", "seq"] + dims)
        else:
            at = self.program.new_dim(self.program.sizes["seq"])
            self.emit(f"dims {at} = {self.program.sizes['seq']}")
            self.let(f"{self.param([at] + dims)}[{at}: index(seq)]", ["seq"] + dims)

    def attention(self):
        value = self.pick(having="seq")
        own = [d for d in (value.dims if value else []) if d not in ("batch", "seq")]
        if not value or "batch" not in value.dims or len(own) != 1:
            return
        if self.program.sizes["head"] % 2 or "head" in own or "heads" in own:
            return
        group = [d for d in self.program.model_dims if d not in (*own, "heads", "head", "vocab")][:1]
        group = group if self.random.random() < 0.4 else []
        heads = [] if self.random.random() < 0.2 else ["heads"]  # else all share keys and values
        shapes = [["heads", *group, "head"], [*heads, "head"], [*heads, "head"]]
        if self.random.random() < 0.2:  # values of another size than keys
            shapes[2][-1] = self.program.new_dim(self.random.choice([2, 3]))
            self.emit(f"dims {shapes[2][-1]} = {self.program.sizes[shapes[2][-1]]}")
        parts = []
        for shape in shapes:
            weight = self.param(own + shape)
            parts.append(self.let(f"{value.name} @ {weight}", ["batch", "seq", *shape], True))
        if not all(parts):
            return
        q, k, v = (p.name for p in parts)
        if self.random.random() < 0.6:
            turn = self.random.choice(["rope", "rope_half"])
            q, k = (f"{turn}({p}, over head, along seq, theta = 100)" for p in (q, k))
        dims = [*parts[0].dims[:-1], shapes[2][-1]]
        result = self.let(f"attention({q}, {k}, {v}, over head, along seq{self.attention_options()})", dims)
        self.program.attends |= self.is_model and result is not None

    def attention_options(self) -> str:
        """A mask of several terms, a cap on the scores, a sink."""
        chance, masks = self.random.random, []
        masks += ["causal"] if chance() < 0.5 else []
        masks += [f"window({self.random.randint(1, 4)})"] if chance() < 0.3 else []
        masks += ["document(tokens)"] if chance() < 0.2 and self.is_model else []
        options = f", mask = {' and '.join(masks) or 'none'}"
        options += ", soft_cap = 1.5" if chance() < 0.25 else ""
        if chance() < 0.25:
            options += f", sink = {self.param(['heads'])}"
        return options

    def accumulate(self):
        value = self.pick()
        over = self.dim_of(value)
        if over:
            reverse = self.random.choice(["", ", reverse = true"])
            self.let(f"0.4 * cumulative_sum({value.name}, along {over}{reverse})", value.dims)

    def choose(self):
        """The greatest elements along a dimension, scattered back to their indices."""
        value = self.pick()
        over = self.dim_of(value)
        if not over or self.program.sizes[over] < 2 or len(value.dims) < 2:
            return
        chosen = self.program.new_dim(self.random.randint(1, self.program.sizes[over] - 1))
        best, at = self.program.fresh("v"), self.program.fresh("i")
        self.emit(f"let {best}, {at} = top_k({value.name}, {self.program.sizes[chosen]}, over {over} as {chosen})")
        dims = [chosen if d == over else d for d in value.dims]
        self.values.append(Value(best, dims))
        if self.random.random() < 0.6:
            rest = [d for d in dims if d != chosen]
            self.let(f"scatter(tanh({best}), {at}, along {over}, over {chosen})", [over, *rest])

    def noise(self):
        value = self.pick()
        if self.random.random() < 0.5 or not value.dims:
            self.let(f"dropout({value.name}, 0.3)", value.dims)
        else:
            draw = self.random.choice(["random_normal", "random_uniform"])
            some = self.random.sample(value.dims, self.random.randint(1, len(value.dims)))
            self.let(f"{value.name} + 0.2 * {draw}({', '.join(some)})", value.dims)

    def positions(self):
        """A value that depends on indices."""
        value = self.pick()
        over = self.dim_of(value, ())
        if over:
            at = f"index({over})"
            self.let(self.random.choice(
                ["{0} * (0.2 * float({1}) + 0.1)", "where({1} < 2, {0}, -0.5 * {0})",
                 "where({1} == 1, 0.3, {0})"]).format(value.name, at), value.dims)

    def staged(self):
        """The repeat that a pipeline cuts into stages; each layer has a parameter."""
        def draw_layer(body: "Body"):
            body.communicate()
            body.draw(self.random.randint(1, 4))
            body.let(f"x * {body.param([self.program.values_dims[-1]])}", self.program.values_dims)
        x = next(v for v in self.values if v.name == "x")
        others = [v for v in self.values if v.dims and v is not x]
        iter_args = [x, *self.random.sample(others, min(len(others), self.random.randint(0, 1)))]
        self.add_repeat("layers", iter_args, draw_layer)

    def repeat(self):
        """A repeat with one or two iteration arguments; values from outside are captured."""
        if len(self.repeats) >= 2 or self.depth >= 4:
            return
        iter_args = self.random.sample(self.values, min(len(self.values), self.random.randint(1, 2)))
        if not all(v.dims for v in iter_args):
            return
        counts = [c for c in ("layers", "layers", "n2", "n1") if c not in self.repeats]
        if self.program.pipeline and not self.repeats:  # its layers are those of one repeat
            counts = ["n2", "n1"]
        self.add_repeat(self.random.choice(counts), iter_args,
                        lambda body: body.draw(self.random.randint(1, 4)))

    def add_repeat(self, count: str, iter_args: list[Value], draw_layer) -> None:
        index = f"l{len(self.repeats)}"
        inner = Body(self.program, self.values, self.depth + 1, self.is_model,
                     (*self.repeats, count))
        inner.values += iter_args
        draw_layer(inner)
        is_irregular = self.random.random() < 0.3
        if is_irregular:
            inner.branch(index, iter_args[0])
        if len(iter_args) == 2 and self.random.random() < 0.4:
            inner.exchange(*iter_args)
        else:
            for value in iter_args:
                inner.advance(value)
        head = f" as {index}" if is_irregular or self.random.random() < 0.3 else ""
        self.lines += ["  " * self.depth + f"repeat {count}{head} {{", *inner.lines,
                       "  " * self.depth + "}"]

    def advance(self, value: Value) -> None:
        """Assigns the next value of an iteration argument."""
        same = [v for v in self.values if sorted(v.dims) == sorted(value.dims)]
        new = same[-1] if self.random.random() < 0.7 else self.random.choice(same)
        self.emit(f"{value.name} = 0.5 * {value.name} + tanh({new.name})")

    def exchange(self, value: Value, other: Value) -> None:
        """Exchanges two iteration arguments."""
        if sorted(value.dims) != sorted(other.dims):
            self.advance(value)
            return self.advance(other)
        old = self.program.fresh("o")
        self.emit(f"let {old} = {value.name}")
        if self.random.random() < 0.5:
            self.advance(value)
        else:
            self.emit(f"{value.name} = {other.name}")
        self.emit(f"{other.name} = {old}")

    def branch(self, index: str, value: Value) -> None:
        """Statements for some iterations only."""
        case = self.random.choice(["{} == 0", "{} > 0", "{} % 2 == 1"]).format(index)
        inner = Body(self.program, self.values, self.depth + 1, self.is_model, self.repeats)
        inner.draw(self.random.randint(1, 3))
        inner.advance(value)
        self.lines += ["  " * self.depth + f"if {case} {{", *inner.lines, "  " * self.depth + "}"]

    def call(self):
        """A call of one of the program's blocks, once or twice with separate parameters."""
        value = self.pick()
        if self.depth > 1 or sorted(value.dims) != sorted(self.program.values_dims):
            return
        block = self.random.choice(self.program.blocks) if self.program.blocks else None
        if block:
            name = self.program.fresh("b")
            self.let(f'{block}({value.name}, named = "{name}")', self.program.values_dims)

    def route(self):
        """Experts of the standard library for each token, all or only as many as their lists hold."""
        value = self.pick()
        if sorted(value.dims) != sorted(self.program.values_dims):
            return
        router = self.random.choice(sorted(ROUTERS))
        weights, chosen, more = (self.program.fresh(prefix) for prefix in ("v", "i", "v"))
        marks = ", used = used" if self.is_model and self.program.marks.random() < 0.5 else ""  # which slots hold data
        counts = marks if "Softmax" not in router else ""
        call = router.replace("(x", f"({value.name}").replace(")", f'{counts}, named = "{self.program.fresh("b")}")')
        self.emit(f"let {weights}, {chosen}{', ' + more if ROUTERS[router] else ''} = {call}")
        result, name = self.program.fresh("v"), self.program.fresh("b")
        arguments = f'{value.name}, {weights}, {chosen}, deviation = 0.5, out_deviation = 0.5, named = "{name}"'
        if self.random.random() < 0.6:
            self.emit(f"let {result} = GatedExperts({arguments})")
        else:
            capacity = self.random.choice(["0.5", "1.0", "1.25"])
            self.emit(f"let {result}, {self.program.fresh('i')} = BoundedExperts({arguments}, capacity = {capacity}{marks})")
        self.values += [Value(more, dims) for dims in [ROUTERS[router]] if dims]
        self.values.append(Value(result, list(value.dims)))

    def communicate(self):
        """Statements that need collectives on many meshes: attention and experts."""
        for statement in (self.attention, self.route):
            if self.random.random() < 0.25:
                statement()

    def share(self):
        """A parameter with two uses."""
        value = self.pick()
        dim = self.dim_of(value, ("batch", "seq"))
        if dim:
            weight = self.param([dim])
            first = self.let(f"{value.name} * {weight}", value.dims)
            if first:
                self.let(f"tanh({first.name}) * {weight} + {weight}", value.dims)

    def keep(self):
        """A buffer: its old value is read, the new one moves towards values of the step."""
        value, name = self.pick(), self.program.fresh("k")
        over = [d for d in value.dims if d in ("batch", "seq")]
        dims = [d for d in value.dims if d not in over]
        brackets = f"[{', '.join(self.shuffled(dims))}]" if dims else ""
        seen = f"mean({value.name}, over {', '.join(over)})" if over else value.name
        update = f"update {name} = 0.7 * {name} + 0.3 * tanh({seen})"
        is_first = self.random.random() < 0.3
        self.emit(f"buffer {name}{brackets} {self.random.choice(['= 0', '= 0.3', '~ normal(0.4)'])}")
        if is_first:
            self.emit(update)
        self.let(self.random.choice(["{} + {}", "{} * tanh({})"]).format(value.name, name), value.dims)
        if not is_first:
            self.emit(update)
        if self.random.random() < 0.4:
            self.remember(value, name, dims)

    def remember(self, value: Value, name: str, dims: list[str]) -> None:
        """A buffer whose next value is the old value of another buffer."""
        older = self.program.fresh("k")
        brackets = f"[{', '.join(dims)}]" if dims else ""
        self.emit(f"buffer {older}{brackets} = {self.random.choice(['0', '0.2'])}")
        self.emit(f"update {older} = {name}")
        self.let(f"{value.name} + {older} * {name}", value.dims)

    def draw(self, count: int) -> None:
        kinds = [self.unary] * 3 + [self.binary] * 4 + [self.project] * 3 + [self.norm] * 2 + [
            self.project_back, self.project_back, self.contract, self.reduce, self.softmax,
            self.expand, self.rename, self.split, self.merge, self.slice, self.concat, self.lookup,
            self.attention, self.attention, self.route, self.route, self.repeat, self.repeat, self.call, self.share,
            self.keep, self.accumulate, self.choose, self.noise, self.positions, self.turn,
            self.singular, self.singular, self.count, self.computed]
        for _ in range(count):
            self.random.choice(kinds)()


class Program:
    def __init__(self, seed: int, pipelined: float = 0.0):
        """With the probability `pipelined`, the map has a pipeline."""
        self.random = random.Random(seed)
        self.names: dict[str, int] = {}
        pick = self.random.choice
        self.sizes = {"batch": pick([2, 4, 4]), "seq": pick([4, 4, 6]), "embed": pick([4, 4, 8]),
                      "heads": pick([2, 2, 4]), "head": pick([2, 2, 4]), "ffn": pick([4, 8, 6, 5]),
                      "vocab": pick([8, 8, 12, 7]), "layers": pick([1, 2, 3]), "experts": pick([4, 4, 2, 3]),
                      "active": pick([1, 2]), "expert_ffn": pick([2, 4])}
        self.model_dims = ["embed", "heads", "head", "ffn", "vocab"]
        self.expert_dims = ["experts", "expert_ffn"]
        self.values_dims = ["batch", "seq", "embed"]
        self.blocks: list[str] = []
        self.singular: set[str] = set()  # dimensions along which 0 would give NaN
        self.attends = False  # the model, not only a block, has attention along seq
        self.routes = False  # the model routes tokens to experts
        self.marks = random.Random(f"slots {seed}")
        chance = random.Random(f"pipeline {seed}")
        self.pipeline = self.draw_pipeline(chance) if chance.random() < pipelined else None

    def draw_pipeline(self, chance: random.Random) -> dict:
        """Ranks, stages of a rank, layers of the stages, schedule and microbatches."""
        stages = chance.choice([1, 1, 2])
        degree = chance.choice([2, 2, 3]) if stages == 1 else 2
        layers = [chance.choice([1, 1, 2]) for _ in range(stages * degree)]
        schedule = chance.choice(SCHEDULES[stages])
        microbatches = 4 if schedule == "dualpipev" else chance.choice([1, 2, 4] if stages == 1 else [2, 4])
        self.sizes["layers"] = sum(layers)
        self.sizes["batch"] = microbatches * chance.choice([1, 2] if microbatches < 4 else [1])
        return {"degree": degree, "stages": stages, "microbatches": microbatches,
                "schedule": schedule,
                "layers": layers if chance.random() < 0.5 else [], "position": chance.random(),
                "named": chance.random() < 0.5}

    def fresh(self, prefix: str) -> str:
        self.names[prefix] = self.names.get(prefix, 0) + 1
        return f"{prefix}{self.names[prefix]}"

    def new_dim(self, size: int) -> str:
        name = self.fresh("d")
        self.sizes[name] = size
        return name

    def draw_block(self) -> list[str]:
        name = f"Part{len(self.blocks)}"
        x = Value("x", self.values_dims)
        body = Body(self, [x], 1, False)
        body.draw(self.random.randint(2, 5))
        new = [v for v in body.values if sorted(v.dims) == sorted(x.dims)][-1]
        body.emit(f"x = 0.5 * x + {new.name}")
        self.blocks.append(name)
        return [f"block {name}(x[batch, seq, embed]) -> x {{",
                "  dims heads, head, ffn, vocab, layers, experts, active, expert_ffn, n1, n2", *body.lines, "}"]

    def draw_model(self) -> list[str]:
        x = Value("x", self.values_dims)
        body = Body(self, [x], 1, True)
        body.emit("input tokens: int[batch, seq]")
        body.emit("input labels: int[batch, seq]")
        body.emit("param table[vocab, embed] ~ normal(0.7)")
        body.emit("let x[batch, seq, embed] = table[vocab: tokens]")
        body.communicate()
        if self.pipeline:
            body.draw(self.random.randint(1, 4))
            body.staged()
        body.draw(self.random.randint(4, 12))
        last = next(v for v in reversed(body.values) if sorted(v.dims) == sorted(x.dims))
        if self.random.random() < 0.4:  # tied
            unembed = "table"
        else:
            unembed = "unembed"
            body.emit("param unembed[embed, vocab] ~ normal(0.5)")
        body.emit(f"output logits[batch, seq, vocab] = {last.name} @ {unembed}")
        loss = self.random.choice(["cross_entropy", "cross_entropy_z", "cross_entropy_smoothed"])
        terms = [f"mean({loss}(logits, labels, over vocab), over batch, seq)"]
        for value in self.random.sample(body.values, min(len(body.values), self.random.randint(0, 6))):
            if value.dims:
                terms.append(f"0.3 * mean({value.name} ** 2, over {', '.join(value.dims)})")
        if self.random.random() < 0.3:  # each under its name, as a separate sum
            for i, term in enumerate(terms):
                body.emit(f"loss {f'part{i} ' if i else ''}= {term}")
        else:
            body.emit("loss = " + " + ".join(terms))
        sizes = {d: self.sizes[d] for d in [*self.model_dims, "layers", *self.expert_dims, "active"]} | {"n1": 1, "n2": 2}
        arguments = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        if any("used = used" in line for line in body.lines):
            body.lines.insert(2, "  input used: int[batch, seq]")
        return [f"model M({arguments}) {{", *body.lines, "}"]

    def draw_map(self, used: set[str]) -> list[str]:
        """One to three axes, at most 8 ranks in all; dimensions that degrees do not divide are
        padded."""
        lines, ranks, left = [], 1, dict(self.sizes)
        if self.pipeline:  # at most 12 ranks with its own
            ranks = 2
            left["batch"] //= self.pipeline["microbatches"]
        names = self.random.sample(["tp", "zeta", "alpha", "m", "x1"], self.random.randint(1, 3))
        auto = names[0] if self.random.random() < 0.2 else None
        for name in names:
            risky = [d for d in self.model_dims if d in used & self.singular]
            pads = name != auto and self.random.random() < (0.8 if risky else 0.3)
            degree = 2 if name == auto else self.random.choice([2, 3, 3, 4] if pads else
                                                               [2, 2, 2, 3, 4, 1])
            pool = [d for d in ("batch", "seq", *self.model_dims, *self.expert_dims) if d in used]
            pool = [d for d in pool if left[d] % degree == 0 or (pads and d in self.model_dims)]
            self.random.shuffle(pool)
            pool.sort(key=lambda d: not (pads and d in risky and left[d] % degree))
            self.prefer(pool)
            splits = pool[:self.random.randint(0, 4)] if name != auto else ["batch"]
            fallback = pool[len(splits):][:self.random.randint(0, 1)] if splits and name != auto else []
            stores = [k for k in ("params", "grads", "optimizer") if self.random.random() < 0.5]
            if ranks * degree > 8 or not (splits or stores) or left["batch"] % degree and name == auto:
                continue
            ranks *= degree
            clauses = [f"splits {', '.join(splits)}"] if splits else []
            clauses += [f", else {fallback[0]}"] if splits and fallback else []
            clauses += [f" stores {', '.join(stores)}"] if stores else []
            dims = [*splits, *fallback] if splits else []
            options = [] if name == auto else self.draw_options(dims, degree, left, pads, lines)
            clauses += [f" {{ {', '.join(options)} }}"] if options else []
            for dim in {*splits, *fallback}:
                left[dim] = -(-left[dim] // degree)
            lines.append(f"  {name} = {'auto' if name == auto else degree} {''.join(clauses)}")
        if len(lines) > 1 and self.random.random() < 0.25:
            lines += self.draw_joint(lines, used, left)
        exceptions = self.draw_exceptions(lines, used)
        if self.pipeline:
            stages = f" {{ stages = {self.pipeline['stages']} }}" if self.pipeline["stages"] > 1 else ""
            axis = f"  pp = {self.pipeline['degree']} splits layers{stages}"
            lines.insert(int(self.pipeline["position"] * (len(lines) + 1)), axis)
        return ["parallel map {", *lines, *exceptions, "}"] if lines else []

    def prefer(self, pool: list[str]) -> None:
        """Sometimes moves the dimensions of attention and of experts, which need collectives, to the front."""
        for dim, matters in (("seq", self.attends), ("experts", self.routes)):
            if matters and dim in pool and self.random.random() < 0.5:
                pool.remove(dim)
                pool.insert(0, dim)

    def draw_options(self, dims: list[str], degree: int, left: dict[str, int], pads: bool,
                     lines: list[str]) -> list[str]:
        """The choices of an axis: dimensions to pad, the order of its shards, the method of attention."""
        uneven = [d for d in dims if left[d] % degree]
        is_mirrored = (not pads and not any("headtail" in line for line in lines)
                       and all(left[d] % (2 * degree) == 0 for d in dims)
                       and self.random.random() < 0.4)
        method = self.draw_method(degree, left, is_mirrored) if "seq" in dims and not uneven else None
        return ([f"pad = [{', '.join(uneven)}]"] if uneven else []) + (
            ["order = headtail"] if is_mirrored else []) + ([f"attention = {method}"] if method else [])

    def draw_method(self, degree: int, left: dict[str, int], is_mirrored: bool) -> str | None:
        """The method by which attention reads the keys of other ranks; None: the default method."""
        if not self.attends:
            return None
        has_heads = not is_mirrored and left["heads"] % degree == 0
        return self.random.choice([None, "gather", "auto", "ring", "ring", *["all_to_all"] * 3 * has_heads])

    def draw_joint(self, lines: list[str], used: set[str], left: dict[str, int]) -> list[str]:
        """An axis joined from the first and the last axis."""
        axes = [line.split()[0] for line in lines if "auto" not in line]
        fitting = [d for d in self.model_dims if d in used and left[d] % 8 == 0]
        if len(axes) < 2 or not fitting:
            return []
        return [f"  both = ({axes[0]}, {axes[-1]}) splits {self.random.choice(fitting)}"]

    def draw_exceptions(self, lines: list[str], used: set[str]) -> list[str]:
        """Overrides for single parameters and values; those without effect are rejected."""
        axes = [line.split()[0] for line in lines if "auto" not in line and "both" not in line]
        found = []
        while axes and self.random.random() < 0.2:
            axis, kind = self.random.choice(axes), self.random.choice(["parameters", "values"])
            name = "w" if kind == "parameters" else "v"
            name = f"*{name}{self.random.randint(1, max(1, self.names.get(name, 1)))}"
            rule = self.random.choice(["splits none", f"splits {self.random.choice(sorted(used))}"])
            if kind == "parameters" and self.random.random() < 0.5:
                rule = "stores " + self.random.choice(["none", "optimizer", "params, grads"])
            found.append(f'  {kind} "{name}" {{ {axis} {rule} }}')
        return found

    def draw_run(self, parallel: list[str], repeats: bool, repeated: list[str]) -> list[str]:
        pick = self.random.choice
        stores = any("params" in line for line in parallel)
        reshard = pick(["default", "default", "always", "never"]) if stores else "default"
        policies = ["= none", "= full", "{ every = 1 }", "{ layers = 0 }",
                    "{ save = [matmul, attention] }", "{ save = reduce, layers = 0 }"]
        policies += [f"{{ blocks = {block} }}" for block in repeated]
        recompute = pick(policies) if repeats else "= none"
        loss_chunks = pick([0, 1])  # 0: as many as titan-check-programs makes the compiler choose
        # The degree of an `auto` axis need not divide a microbatch's samples.
        fits = not any(" auto " in line for line in parallel)
        accumulate = pick([1, 1, 1, 1, 2]) if fits else 1
        if self.pipeline:
            layers = self.pipeline["layers"]
            options = [f'schedule = "{self.pipeline["schedule"]}"',
                       f"microbatches = {self.pipeline['microbatches']}"]
            starts = list(itertools.accumulate(layers))[:-1]
            cuts = ", ".join(f'"layers.{start}"' for start in starts)
            if layers:
                options.append(f"cuts = [{cuts}]" if self.pipeline["named"] else f"layers_per_stage = {layers}")
            microbatches = f"  pipeline {{ {', '.join(options)} }}"
        else:
            microbatches = f"  accumulate = {accumulate}"
        clip = pick(["0", "0.5", "10.0"])
        times = self.draw_times(parallel, reshard, accumulate)
        return [f"train t = M{' on map' if parallel else ''} {{",
                f"  data = text(\"none.txt\") {{ seq = {self.sizes['seq']}, batch = {self.sizes['batch']} }}",
                "  precision { params = f64, compute = f64 }",
                f"  optimizer = adamw {{ lr = 1e-3, eps = 1e-4, weight_decay = {pick(['0', '0.1'])} }}",
                f"  recompute {recompute}",
                f"  loss_chunks = {loss_chunks}",
                microbatches,
                f"  sharding {{ reshard_after_forward = {reshard}{times}, chunk_products = {pick(['never', 'always'])} }}",
                f"  clip = {clip}", "}"]

    def draw_times(self, parallel: list[str], reshard: str, accumulate: int) -> str:
        """Settings of when parameters are gathered and gradients reduced, where they have an effect."""
        if not self.pipeline and accumulate == 1:
            return ""
        text = ""
        for name, kinds in [("gather", ["params"]), ("reduce", ["grads", "optimizer"])]:
            if any(kind in line for line in parallel for kind in kinds):
                times = ["auto", "step", "microbatch"]
                if name == "gather" and self.pipeline and reshard == "never":
                    times.remove("microbatch")  # the stages would stash the gathered parameters
                text += f", {name} = {self.random.choice(times)}"
        return text

    def draw(self) -> str:
        blocks = [self.draw_block() for _ in range(self.random.randint(0, 2))]
        model = self.draw_model()
        called = [f"Part{i}(" in "\n".join(model) for i in range(len(blocks))]
        repeated = [f"Part{i}" for i, block in enumerate(blocks)
                    if called[i] and any("repeat " in line for line in block)]
        blocks = [line for i, block in enumerate(blocks) for line in block if called[i]]
        declared = re.findall(r"(?:param|let|output|input) [^\[=]*\[([^\]]*)\]",
                              "\n".join(blocks + model))
        repeats = any("repeat " in line for line in blocks + model)
        self.routes = any("Experts(" in line for line in blocks + model)
        used = {d for dims in declared for d in dims.split(", ")}
        parallel = self.draw_map(used | set(self.expert_dims if self.routes else []))
        run = self.draw_run(parallel, repeats, repeated)
        return "\n".join(["import std.activation, std.loss, std.moe, std.norm, std.rotary", "",
                          "fn sin_like(x) = x * (1 - x * x / 6) * exp(-(x * x) / 4)",
                          "fn blend(a, b, share = 0.3) = share * a + (1 - share) * b", "",
                          *blocks, "", *model, "", *parallel, "", *run, ""])


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).draw())
