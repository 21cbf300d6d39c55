"""Statements of random programs (generate.py) that depend on indices, counts and padding."""


class IndexStatements:
    """A mixin of Body with further statements; uses its `pick`, `dim_of`, `let`, `param` and `emit`."""

    def turn(self):
        """Rotates pairs along one dimension by the index along another, also along the batch."""
        value = self.pick()
        even = [d for d in value.dims if d not in ("batch", "seq") and self.program.sizes[d] % 2 == 0]
        if even and len(value.dims) > 1:
            over = self.random.choice(even)
            along = self.random.choice([d for d in value.dims if d != over])
            turn = self.random.choice(["rope", "rope_half"])
            self.let(f"{turn}({value.name}, over {over}, along {along}, theta = 20)", value.dims)

    def singular(self):
        """Functions that give NaN for 0, of values that are 0 only in padding."""
        value = self.pick()
        over = self.dim_of(value, ("batch", "seq"))
        if not over:
            return
        self.program.singular.add(over)
        if self.random.random() < 0.6:
            far = self.param([over], self.random.choice(["= 2", "= 0.7"]))
            self.let(self.random.choice(
                ["{0} / {1}", "{0} * log({1})", "{0} * sqrt({1})", "{0} * rsqrt({1})",
                 "{0} * {1} / ({1} * {1})", "{0} * ({1} / sqrt({1} * {1}))", "tanh({0} / {1} ** 2)",
                 "{0} * clamp({1}, 0, 1.5) / abs({1})"]).format(value.name, far), value.dims)
        else:
            self.normalise(value, over)

    def normalise(self, value, over: str) -> None:
        """Sinkhorn's alternation, or rows of length 1."""
        other = self.random.choice(value.dims)
        if self.random.random() < 0.5:
            weight = self.param([over], "= 0.8")
            rows = f"{weight} / sqrt(sum({weight} * {weight}, over {over}))"
            self.let(f"{value.name} * ({rows})", value.dims)
        elif positive := self.let(f"exp(0.3 * {value.name})", value.dims):
            for dim in (other, over, other):
                self.emit(f"{positive.name} = {positive.name} / sum({positive.name}, over {dim})")

    def count(self):
        """The number of true elements, of comparisons independent of parameters."""
        value = self.pick()
        over = self.dim_of(value, ())
        if not over:
            return
        mask, dims = f"index({over}) > 0", [over]
        if self.is_model and self.random.random() < 0.6:
            mask, dims = self.random.choice(["tokens > 2", "labels != tokens"]), ["batch", "seq"]
        gone = self.random.sample(dims, self.random.randint(1, len(dims)))
        if not {d for d in dims if d not in gone} <= set(value.dims):
            return
        count = self.random.choice(["float(sum({}, over {}))", "mean({}, over {})",
                                    "float(max({}, over {}))", "where(min({}, over {}), 0.3, 0.6)"])
        self.let(f"{value.name} * (0.3 * {count.format(mask, ', '.join(gone))} + 0.2)", value.dims)

    def computed(self):
        """A gather or scatter with computed indices."""
        value = self.pick()
        rows = [d for d in self.program.model_dims if d not in value.dims]
        if not self.is_model or not rows:
            return
        dim = self.random.choice(rows)
        most = self.program.sizes[dim] - 1
        at, dims = self.random.choice(
            [(f"min(sum(tokens > 3, over seq), {most})", ["batch"]),
             (f"max(min(tokens + labels - 3, {most}), 0)", ["batch", "seq"]),
             (f"min(max(tokens, over batch), {most})", ["seq"])])
        if not set(dims) <= set(value.dims):
            return
        if self.random.random() < 0.5:
            self.let(f"{value.name} * {self.param([dim])}[{dim}: {at}]", value.dims)
        else:
            gone = [d for d in dims if self.random.random() < 0.5]
            over = f", over {', '.join(gone)}" if gone else ""
            self.let(f"scatter({value.name}, {at}, along {dim}{over})",
                     [*(d for d in value.dims if d not in gone), dim])
