// The text that titanc fmt writes.
#include "tests/unit/compiler/syntax/Support.h"

#include <gtest/gtest.h>

namespace titan::syntax {
namespace {

void expectFormat(const std::string &text, const std::string &expected) {
  EXPECT_EQ(formatted(text), expected);
  EXPECT_EQ(formatted(expected), expected);
}

// Spaces around operators, none inside brackets, none before what is called or indexed.
TEST(Format, Spaces) {
  expectFormat("fn f( x ,w,over d ,eps=1e-5)=x*- w+( x@w )[ a,b ]/f (x,along s,m= - 1)**2\n",
               "fn f(x, w, over d, eps = 1e-5) = x * -w + (x @ w)[a, b] / f(x, along s, m = -1) ** "
               "2\n");
  expectFormat("fn f(x) = x[ s:0 .. n-1 as p ]+x[ s : ..2 ]-x[ s:2 ..as r ]-over_it (x)\n",
               "fn f(x) = x[s: 0..n - 1 as p] + x[s: ..2] - x[s: 2.. as r] - over_it(x)\n");
}

// A keyword before a parenthesis is no call, a keyword after a dot is.
TEST(Format, KeywordsAndParentheses) {
  expectFormat("fn f(x) = not(a)and(b)or g(x,over(a,b)) + m.with (x)\n",
               "fn f(x) = not (a) and (b) or g(x, over (a, b)) + m.with(x)\n");
}

// `=` and `~` of neighbouring params are in one column; a blank line or a comment ends the run.
TEST(Format, AlignsParams) {
  expectFormat("block B(x) -> x {\nparam a[embed]=1\nparam long[embed,ffn]~normal(1)\n\n"
               "param b=0\n# why\nparam cc=0\nlet y=1\nlet zz=2\n}\n",
               "block B(x) -> x {\n"
               "  param a[embed]         = 1\n"
               "  param long[embed, ffn] ~ normal(1)\n"
               "\n"
               "  param b = 0\n"
               "  # why\n"
               "  param cc = 0\n"
               "  let y = 1\n"
               "  let zz = 2\n"
               "}\n");
}

// Settings line up one a line, around blocks without `=`; several on a line are left alone.
TEST(Format, AlignsSettings) {
  expectFormat("train t=M{\nsteps=1\nprecision{params=f32}\no=adamw{\nlr=1, b=2\neps=3 }\n}\n",
               "train t = M {\n"
               "  steps = 1\n"
               "  precision { params = f32 }\n"
               "  o     = adamw {\n"
               "    lr = 1, b = 2\n"
               "    eps = 3\n"
               "  }\n"
               "}\n");
}

// Lines inside parentheses start below what the bracket began with, or hang by two.
TEST(Format, ContinuationLines) {
  expectFormat("fn f(x) =\ng(x,\nh(x,\ny),\n# c\nz)\n\nfn g(\nx,\ny\n) = x +\ny\n", "fn f(x) =\n"
                                                                                    "  g(x,\n"
                                                                                    "    h(x,\n"
                                                                                    "      y),\n"
                                                                                    "    # c\n"
                                                                                    "    z)\n"
                                                                                    "\n"
                                                                                    "fn g(\n"
                                                                                    "  x,\n"
                                                                                    "  y\n"
                                                                                    ") = x +\n"
                                                                                    "  y\n");
}

// Columns below a bracket follow what alignment does to the line above.
TEST(Format, ContinuationAfterAlignment) {
  expectFormat("train t = M {\nlonger_key = 1\na = f(1,\n2)\n}\n", "train t = M {\n"
                                                                   "  longer_key = 1\n"
                                                                   "  a          = f(1,\n"
                                                                   "                 2)\n"
                                                                   "}\n");
}

// Comments stay where they are; trailing ones of consecutive lines line up.
TEST(Format, Comments) {
  expectFormat("#top  \nblock B(x) -> x { # why\nlet a = 1 # one\nlet bcd = 22   # two\n\n\n"
               "# own line\nx = a\n# last\n}\n# end",
               "#top\n"
               "block B(x) -> x {  # why\n"
               "  let a = 1     # one\n"
               "  let bcd = 22  # two\n"
               "\n"
               "  # own line\n"
               "  x = a\n"
               "  # last\n"
               "}\n"
               "# end\n");
}

// Losses are aligned, with a name or without; a value with the name `loss` remains a value.
TEST(Format, Losses) {
  expectFormat("model M() {\nloss=a\nloss  balance=0.01*b\nlet y=loss\nloss z=c\n}\n",
               "model M() {\n"
               "  loss         = a\n"
               "  loss balance = 0.01 * b\n"
               "  let y = loss\n"
               "  loss z = c\n"
               "}\n");
}

// Blank lines: one at most, none at the edges of a block.
TEST(Format, BlankLines) {
  expectFormat("\n\nfn a() = 1\n\n\n\nblock B(x) -> x {\n\n  x = 1\n\n}\n\n\n",
               "fn a() = 1\n\nblock B(x) -> x {\n  x = 1\n}\n");
}

// A block on one line stays there; broken anywhere between entries, it is broken at its braces.
TEST(Format, Braces) {
  expectFormat("block B(x) -> x\n{\nrepeat n as l {x=f(x,l)}\nin  f32{x=1}\nif a {x=1}\nelse "
               "{x=2;\ny=3}\n}\n",
               "block B(x) -> x {\n"
               "  repeat n as l { x = f(x, l) }\n"
               "  in f32 { x = 1 }\n"
               "  if a { x = 1 } else {\n"
               "    x = 2\n"
               "    y = 3\n"
               "  }\n"
               "}\n");
  expectFormat("model E() { }\n", "model E() {}\n");
}

// A `;` before a line end is removed.
TEST(Format, Semicolons) {
  expectFormat("parallel p { a = 2 splits x; stores params;\nb = 3; c = 4; }\n"
               "train t = p with { x = 1; y = 2; }\n",
               "parallel p {\n"
               "  a = 2 splits x stores params\n"
               "  b = 3; c = 4\n"
               "}\n"
               "train t = p with { x = 1; y = 2 }\n");
}

// Lines of more than 100 columns break: after a comma before an operator, outside before inside.
TEST(Format, LongLines) {
  std::string name(30, 'n');
  expectFormat("fn f(x) = attention(" + name + ", " + name +
                   ", over head, along seq, mask = causal)\n",
               "fn f(x) = attention(" + name + ", " + name +
                   ", over head,\n"
                   "                    along seq, mask = causal)\n");
  expectFormat("fn f(x) = " + name + " * sqrt(" + name + ") + " + name + " - " + name + "\n",
               "fn f(x) = " + name + " * sqrt(" + name + ") +\n  " + name + " - " + name + "\n");
  expectFormat("train t = M { a = \"" + name + name + "\", b = \"" + name + "\", c = 3 }\n",
               "train t = M {\n  a = \"" + name + name + "\",\n  b = \"" + name + "\", c = 3\n}\n");
  // A keyword at the start of a line would begin a statement; a name cannot be broken.
  std::string whole(120, 'n');
  expectFormat("fn f(x) = g(" + whole + ", model = 1)\n",
               "fn f(x) = g(" + whole + ", model = 1)\n");
}

// A long index of a stored tensor has lines of its own; a short one stays.
TEST(Format, StoredTensors) {
  std::string name(60, 'n');
  expectFormat("weights \"hf\" for M {\n  a.wq = \"" + name +
                   "\"[(heads, plain of plain + value), rank]\n"
                   "  b = \"" +
                   name + "\"[x, y]\n}\n",
               "weights \"hf\" for M {\n  a.wq = \"" + name +
                   "\"[\n    (heads, plain of plain + value), rank\n  ]\n"
                   "  b    = \"" +
                   name + "\"[x, y]\n}\n");
}

// A file with mistakes is not touched.
TEST(Format, RefusesMistakes) {
  EXPECT_EQ(formatted("fn f(x = 1\n"), "<errors>");
}

// An empty file stays empty; a file with comments only is kept.
TEST(Format, Empty) {
  expectFormat("", "");
  expectFormat("\n\n", "");
  expectFormat("# a\n\n\n# b", "# a\n\n# b\n");
}

} // namespace
} // namespace titan::syntax
