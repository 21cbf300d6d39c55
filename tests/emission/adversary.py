"""Draws random programs with the names, sizes and texts for which emitted C++ is most likely to be wrong.

    adversary.py SEED         prints one program

tests/programs/generate.py draws the statements. Further statements use values that have no memory
(`index(d)`, constants). Values, parameters, dimensions and axes have the names of macros and functions of
the headers that emitted programs include, of C++ keywords, and of identifiers in the emitter and the
runtime. Sizes are often 1 or odd. Comments contain characters that end lines, comments and strings in C++.
"""

import random
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "programs"))
from generate import Program  # noqa: E402

# Identifiers of the emitter, the runtime and C++. run.py adds the macros of the headers, as g++ lists them.
NAMES = """
at i j k l m n p row run main mesh over from to first second total width index slot tm std titan rt arena
ctx degree describe transient persistent gemm attention allGather allReduce finish copy fill sum dot topK
l1 l2 j0 i5 program programMesh Context Program DType Role List TensorRow bf16 threads chunk aligned
int long double char void class template namespace new delete this operator union typename auto register
and_eq bitand xor not_eq asm alignas constexpr static extern signed typeof
y0 y1 j1 jn gamma signgam read write open close time clock remove exit abort rand select link
NULL EOF errno NAN INFINITY M_PI major minor linux unix I assert stdin stdout stderr CHAR_BIT BUFSIZ
int64_t size_t omp_get_num_threads uint32_t ptrdiff_t max_align_t environ
lr step seed grad_norm local_loss x_1 x_1_1 a__b _x __x _ __ x_ x_at x_row x_start seq_start layers_body t
""".split()
# Names that are never used: keywords of Titan, and functions that the drawn programs call.
RESERVED = set("""
import as block fn model train parallel param buffer update input output let loss repeat if else match
dims over along splits stores pads true false none with on and or not in is of mean sum exp max min where tanh
""".split())
COMMENTS = ["\\", "??/", "*/ /*", '"', "\t\v\f", "\x01\x7f", "é\u202e\u2028", ')titan"', "#pragma", "%s%n"]


def is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None and text not in RESERVED


# Expressions of a dimension d and another dimension e, and the dimensions of their results. The other fields in braces
# are those of draw_index().
INDICES = [("index({d})[{d}: {last}]", ""), ("index({d})[{d}: 0]", ""), ("index({d})[{d}: 0..{part} as {new}]", "new"),
           ("index({d})[{d}: {rest}.. as {new}]", "new"), ("index({d})[{d}: tokens]", "batch seq"),
           ("index({d})[{d}: 0 * index({e})]", "e"), ("index({d})[{d} as {new}]", "new"),
           ("concat(index({d}) along {d}, index({d}) along {d} as {double})", "double"),
           ("cumulative_sum(index({d}), along {d})", "d"), ("sum(index({d}), over {d})", ""),
           ("max(index({d}), over {d})", ""), ("max(index({d}), {last})", "d"), ("index({d}) * index({d})", "d"),
           ("expand(index({d}), {e})", "d e"), ("index({d})[{d}: 0 * (1 - index(n2))]", "n2"),
           ("scatter(expand(index({d}), seq), expand(index(seq), {d}), along {e}, over {d})", "seq e"),
           ("split(index({d}), {d} as ({new}, n1))", "new n1"), ("merge(expand(index({d}), n1), ({d}, n1) as {new})", "new"),
           ("scatter(index({d}), index({d}), along {e}, over {d})", "e"),
           ("scatter(expand(index({d}), batch, seq), tokens, along {e}, over batch, seq, {d})", "e"),
           ("where(index({d}) > 1, index({d}), 3)", "d"),
           ("cumulative_sum(index({d}), along {d}, reverse = true)[{d}: 0]", "")]


class Adversary(Program):
    """A program of tests/programs with other names, sizes and comments; `names` may become identifiers, too."""

    def __init__(self, seed: int, names: list[str]):
        super().__init__(seed)
        pick = self.random.choice
        self.pool = [name for name in dict.fromkeys([*NAMES, *names]) if is_name(name)]
        if self.random.random() < 0.6:
            self.sizes |= {"batch": pick([1, 2, 4]), "seq": pick([1, 1, 2, 3]), "embed": pick([1, 1, 2, 5]),
                           "heads": pick([1, 2, 3]), "head": pick([1, 2]), "ffn": pick([1, 3, 6, 10]),
                           "vocab": pick([1, 2, 9, 14]), "layers": pick([1, 2])}

    def draw_model(self) -> list[str]:
        lines = super().draw_model()
        at = next(i for i, line in enumerate(lines) if "let x[batch" in line) + 1
        added = [line for _ in range(self.random.randint(0, 5)) for line in self.draw_index()]
        lines[at:at] = added
        return lines

    def draw_index(self) -> list[str]:
        form, dims = self.random.choice(INDICES)
        available = self.model_dims if "seq" in dims + form else ["seq", *self.model_dims]
        d, e = self.random.sample(available, 2)
        size = self.sizes[d]
        part = self.random.randint(1, size)
        words = {"d": d, "e": e, "last": size - 1, "part": part, "rest": self.random.randint(0, size - 1),
                 "new": self.fresh("d"), "double": self.fresh("d")}
        name = self.fresh("v")
        lines = [f"  let {name} = {form.format(**words)}"]
        dims = [words.get(word, word) for word in dims.split()]
        over = f", over {', '.join(dims)}" if dims else ""
        total = f"sum(float({name}){over})" if dims else f"float({name})"
        lines.append(f"  x = x + 0.001 * {total}")
        return lines

    def draw_exceptions(self, lines: list[str], used: set[str]) -> list[str]:
        return super().draw_exceptions(lines, used) if self.random.random() < 0.1 else []  # the checker often refuses them

    def draw(self) -> str:
        text = super().draw()
        text = self.rename(text)
        if self.random.random() < 0.3:
            text = "\n".join(line + (f"  # {self.random.choice(COMMENTS)}" if self.random.random() < 0.2 else "")
                             for line in text.split("\n"))
        if self.random.random() < 0.2:
            text = text.replace("\n", "\r\n")
        for kind in ("params", "compute"):
            text = text.replace(f"{kind} = f64", f"{kind} = {self.random.choice(['f64', 'f32', 'f32', 'bf16'])}")
        return text

    def rename(self, text: str) -> str:
        """Replaces drawn names by names of the pool, each everywhere by the same one."""
        drawn = sorted(set(re.findall(r"\b[vwd]\d+\b", text)) | {"zeta", "alpha", "x1", "map"})
        chosen = self.random.sample(self.pool, len(drawn))
        fraction = self.random.choice([0.3, 1, 1])
        renamed = {old: new for old, new in zip(drawn, chosen) if self.random.random() < fraction}
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: renamed.get(word[0], word[0]), text)


def draw(seed: int, names: list[str] = ()) -> str:
    return Adversary(seed, list(names)).draw()


if __name__ == "__main__":
    print(draw(int(sys.argv[1])))
