"""Prints a random program whose loss depends on its parameters through repeats, possibly nested.

    random_program.py SEED

Repeats have any number of iteration arguments (also none, also unchanged ones), scan parameters and
computed tensors, have captures and stacked outputs, and run in both directions. All operations are
smooth, so that finite differences of the loss approximate the gradient.
"""

import random
import sys

T = "!titan.tensor<f64[seq = 3]>"
PAIR = "!titan.tensor<f64[a = 3, b = 1]>"
KEYS = "!titan.tensor<f64[keys = 3 of seq]>"
OUTER = "!titan.tensor<f64[seq = 3, keys = 3 of seq]>"
S = "!titan.tensor<f64[]>"
INDEX = "!titan.tensor<i64[]>"
INIT = "titan.init = #titan.init<normal, [1.0]>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.dims = 0
        self.params = [("%p0", T, ""), ("%p1", T, "")]
        self.lines = []

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text, count=1):
        """Adds `<new names> = text` and returns the names."""
        names = [self.name() for _ in range(count)]
        self.lines.append(f"{', '.join(names)} = {text}")
        return names if count != 1 else names[0]

    def pick(self, values):
        """A value, with a preference for late ones."""
        return values[-1 - min(int(self.random.expovariate(0.35)), len(values) - 1)]

    def unary(self, kind, x, source=T, result=T):
        return self.emit(f"titan.{kind} {x} : {source} -> {result}")

    def binary(self, kind, x, y, rhs=T, result=T):
        return self.emit(f"titan.{kind} {x}, {y} : ({T}, {rhs}) -> {result}")

    def step(self, values, depth):
        """One more value, by an operation or two."""
        kinds = ["add", "mul", "sub", "tanh", "sigmoid", "sharding_constraint"]
        composed = [self.views, self.outer, self.statistic, self.scalar, self.constant]
        pick = lambda: self.pick(values)
        choice = self.random.choice(kinds + composed + ([self.repeat] * 3 if depth < 3 else []))
        if choice == self.repeat:
            return self.repeat(values, depth)
        if callable(choice):
            return [choice(pick)]
        if choice in ("add", "mul", "sub"):
            return [self.binary(choice, pick(), pick())]
        return [self.unary(choice, pick())]

    def views(self, pick):
        pair = self.emit(f'titan.split {pick()} dim "seq" : {T} -> {PAIR}')
        pair = self.unary("tanh", pair, PAIR, PAIR)
        return self.emit(f'titan.merge {pair} dim "seq" : {PAIR} -> {T}')

    def outer(self, pick):
        keys = self.unary("rename", pick(), T, KEYS)
        product = self.binary("contract", pick(), keys, KEYS, OUTER)
        return self.unary("tanh", self.unary("reduce sum", product, OUTER, T))

    def statistic(self, pick):
        mean = self.unary("sigmoid", self.unary("reduce sum", pick(), T, S), S, S)
        return self.binary("mul", pick(), mean, S)

    def scalar(self, pick):
        dot = self.unary("tanh", self.binary("contract", pick(), pick(), T, S), S, S)
        return self.unary("expand", dot, S, T)

    def constant(self, pick):
        return self.binary("mul", pick(), self.emit(f"titan.constant 0.5 : {S}"), S)

    def slice_source(self, values, stacked, depth):
        if depth == 0 and self.random.random() < 0.8:
            self.params.append((f"%p{len(self.params)}", stacked, ", titan.stacked"))
            return self.params[-1][0]
        return self.unary("expand", self.pick(values), T, stacked)

    def repeat(self, values, depth):
        rng = self.random
        self.dims += 1
        dim = f"d{self.dims} = {rng.choice([1, 2, 3])}"
        stacked = f"!titan.tensor<f64[{dim}, seq = 3]>"
        inits = [self.pick(values) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        slices = [self.slice_source(values, stacked, depth) for _ in range(rng.choice([0, 1, 2]))]
        index, *args = [self.name() for _ in range(1 + len(inits) + len(slices))]
        before, self.lines = self.lines, []
        inner = (values + args) if rng.random() < 0.8 or not args else list(args)
        for _ in range(rng.randint(1, 5)):
            inner = inner + self.step(inner, depth + 1)
        stacks = rng.choice([0, 0, 1, 2]) if inits else rng.choice([1, 2])
        yielded = [self.pick(inner) for _ in range(len(inits) + stacks)]
        if inits and rng.random() < 0.3:
            level = self.unary("cast", index, INDEX, S)
            yielded[0] = self.binary("add", yielded[0], level, S)
        body, self.lines = self.lines, before
        types = ", ".join([T] * len(inits) + [stacked] * len(slices))
        results = ", ".join([T] * len(inits) + [stacked] * stacks)
        names = [self.name() for _ in range(len(inits) + stacks)]
        direction = " reverse" if rng.random() < 0.3 else ""
        self.lines.append(f"{', '.join(names)} = titan.repeat <{dim}>{direction} "
                          f"iter_args({', '.join(inits)}) scanned({', '.join(slices)}) : ({types}) -> ({results}) {{")
        arguments = [f"{index}: {INDEX}"] + [f"{arg}: {T}" for arg in args]
        self.lines.append(f"^bb0({', '.join(arguments)}):")
        self.lines += body
        self.lines.append(f"titan.yield {', '.join(yielded)} : {', '.join([T] * len(yielded))}")
        self.lines.append("}")
        finals, stacks = names[:len(inits)], names[len(inits):]
        return finals + [self.unary("reduce sum", name, stacked, T) for name in stacks]

    def text(self):
        values = ["%p0", "%p1", "%frozen"]
        for _ in range(self.random.randint(3, 9)):
            values += self.step(values, 0)
        # Every parameter reaches the loss, which no large value saturates.
        loss = self.binary("mul", values[-1], self.random.choice(values))
        loss = self.unary("reduce sum", self.unary("tanh", loss), T, S)
        for parameter, of, _ in self.params:
            loss = self.emit(f"titan.add {loss}, {self.unary('reduce sum', parameter, of, S)} : ({S}, {S}) -> {S}")
        arguments = [f'{name}: {of} {{titan.param = "{name[1:]}", {INIT}{more}}}' for name, of, more in self.params]
        arguments.append(f'%frozen: {T} {{titan.param = "frozen", titan.frozen, {INIT}}}')
        body = "\n  ".join(self.lines)
        return (f"func.func @train({', '.join(arguments)}) -> ({S} {{titan.output = \"loss\"}})\n"
                f"    attributes {{titan.program = \"train\"}} {{\n  {body}\n  return {loss} : {S}\n}}")


print(Program(int(sys.argv[1])).text())
