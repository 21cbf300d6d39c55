// Emits a nest that tells the runtime what each operation of a row computes.

#include "compiler/emission/Names.h"
#include "compiler/emission/Rows.h"
#include "compiler/emission/ScalarSteps.h"
#include "compiler/emission/WatchNumbers.h"
#include "dialects/titan/Support/Views.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

void RowNest::numberSteps() {
  auto add = [&](Operation *op, Operation *step) {
    if (mayMakeNonFinite(step) && !getSourceLine(step->getLoc()).empty())
      steps.try_emplace({op, step}, steps.size());
  };
  for (Operation *op : ops) {
    if (!innerOf.count(op))
      continue;
    if (auto apply = dyn_cast<ApplyOp>(op))
      for (Operation *step : apply.getCallee().getSteps())
        add(op, step);
    else
      add(op, op);
  }
}

void RowNest::see(Operation *op, Operation *step, StringRef result,
                  ArrayRef<std::string> operands) {
  auto found = steps.find({op, step});
  if (found == steps.end())
    return;
  std::string line = "seen.see(" + std::to_string(found->second) + ", " + result.str();
  for (const std::string &operand : operands)
    line += ", " + std::string(stripParentheses(operand));
  text.line(line + ");");
}

void RowNest::seeTerm(ReduceOp op, StringRef term) {
  if (auto found = steps.find({op, op}); found != steps.end())
    text.line("seen.seeTerm(" + std::to_string(found->second) + ", " +
              stripParentheses(term).str() + ");");
}

void RowNest::seeSum(ReduceOp op) {
  if (auto scalar = scalars.find(op.getResult()); scalar != scalars.end())
    return see(op, op, scalar->second, {});
  const Access &sums = accesses[op.getResult()];
  SmallVector<Loop> loops = makeLoops(getParallelSpace(op), {&sums});
  nameLoops(loops, rowLoops.size() == 1 ? 0 : rowLoops.size());
  SmallVector<Loop> all = rowLoops;
  llvm::append_range(all, loops);
  openLoops(text, loops);
  see(op, op, getElement(sums, all), {});
  closeLoops(text, loops);
}

/// The nest as a function of its own, so that the compiler keeps it apart from the loops that
/// compute. Empty if there is nothing to see.
std::string RowNest::wrapWatch() {
  if (steps.empty())
    return "";
  Writer out(emitter.out().getLevel());
  out.line("if (ctx.numbers)");
  out.indent();
  out.open("[=, &ctx]() __attribute__((cold, noinline))");
  std::string table;
  for (auto &[key, number] : steps)
    table += (number ? ", {" : "{") + quote(getSourceLine(key.second->getLoc())) + ", " +
             quote(getAction(key.second)) + "}";
  out.line("static constexpr WatchedStep steps[] = {" + table + "};");
  out.line("tm::StepBits<" + std::to_string(steps.size()) + "> seen;");
  out.raw(text.str());
  out.line("seen.report(ctx, steps);");
  out.close("();");
  return out.str();
}
