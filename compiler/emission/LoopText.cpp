// Emits loop nests and kernels as text.

#include "compiler/emission/FunctionEmitter.h"

using namespace titan;
using namespace titan::emission;

void emission::emitParallel(Writer &out, int depth, const SizeExpr &count) {
  std::optional<int64_t> value = count.getValue();
  if (depth == 0 || (value && *value < kMinParallelWork))
    return;
  out.line("#pragma omp parallel for" +
           (depth > 1 ? " collapse(" + std::to_string(depth) + ")" : std::string()));
}

void emission::openLoops(Writer &out, llvm::ArrayRef<Loop> loops) {
  for (const Loop &loop : loops)
    out.open("for (int64_t " + loop.variable + " = 0; " + loop.variable + " < " + loop.size.str() +
             "; ++" + loop.variable + ")");
}

void emission::closeLoops(Writer &out, llvm::ArrayRef<Loop> loops) {
  for (size_t i = 0; i < loops.size(); ++i)
    out.close();
}

void emission::openScope(Writer &out, llvm::ArrayRef<Loop> loops) {
  if (loops.empty()) {
    out.line("{");
    out.indent();
  }
  openLoops(out, loops);
}

void emission::closeScope(Writer &out, llvm::ArrayRef<Loop> loops) {
  if (loops.empty())
    out.close();
  closeLoops(out, loops);
}

void emission::splitIndex(Writer &out, llvm::ArrayRef<Loop> loops, llvm::ArrayRef<Loop> known) {
  for (size_t at = loops.size(); at-- > 0;) {
    if (llvm::any_of(known, [&](const Loop &loop) { return loop.getKey() == loops[at].getKey(); }))
      continue;
    std::string index = "index";
    SizeExpr below;
    for (const Loop &loop : loops.drop_front(at + 1))
      below = below * loop.size;
    if (!below.isOne())
      index = "(index / " + below.atom() + ")";
    if (at > 0)
      index += " % " + loops[at].size.atom();
    out.line("const int64_t " + loops[at].variable + " = " + index + ";");
  }
}

/// Opens a call of `tm::launch` or `tm::launchRows` with a lambda over the indices of `loops`.
static void open(Writer &out, llvm::ArrayRef<Loop> loops, llvm::StringRef launch) {
  SizeExpr count;
  for (const Loop &loop : loops)
    count = count * loop.size;
  std::string index = loops.size() == 1 ? loops[0].variable : "index";
  if (loops.empty())
    index = "";
  out.open("tm::" + launch + "(ctx, " + count.str() + ", [=] __device__(int64_t" +
           (index.empty() ? "" : " ") + index + ")");
  if (loops.size() > 1)
    splitIndex(out, loops);
}

void emission::openKernel(Writer &out, llvm::ArrayRef<Loop> loops) {
  open(out, loops, "launch");
}

void emission::openRowKernel(Writer &out, llvm::ArrayRef<Loop> loops) {
  open(out, loops, "launchRows");
}

void emission::closeKernel(Writer &out) {
  out.close(");");
}

void emission::nameLoops(llvm::MutableArrayRef<Loop> loops, int first) {
  static const char *const names[] = {"i", "j", "k", "m", "n"};
  for (Loop &loop : loops) {
    if (!loop.variable.empty())
      continue;
    loop.variable = first < 5 ? names[first] : "i" + std::to_string(first);
    ++first;
  }
}
