// Generated tests of every operation.
//
//   titan-check-ops [--count N] [--seed N] [OP...]    gradients, decompositions, all shardings
//   titan-check-ops --describe [--count N] [OP...]    cases as JSON, one per line, for PyTorch
//   titan-check-ops --module [--count N] [OP...]      the same cases as programs of one module
//
// Covers all operations that the dialect registers; fails if one has no generator.

#include "dialects/registration/RegisterAll.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Generators.h"
#include "tests/ops/Programs.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
namespace cl = llvm::cl;

static cl::list<std::string> only(cl::Positional, cl::desc("OP..."));
static cl::opt<unsigned> count("count", cl::init(20), cl::desc("cases an operation"));
static cl::opt<uint64_t> firstSeed("seed", cl::init(0), cl::desc("seed of the first case"));
static cl::opt<bool> describeOnly("describe", cl::desc("print cases as JSON instead"));
static cl::opt<bool> moduleOnly("module", cl::desc("print a module of programs instead"));
static cl::opt<bool> large("large", cl::desc("let some dimensions be longer than a warp"));
static cl::opt<Break> broken("break", cl::init(Break::Nothing),
                             cl::desc("make every rule wrong, to see that it is detected"),
                             cl::values(clEnumValN(Break::Linear, "linear", "any operand partial"),
                                        clEnumValN(Break::Split, "split", "any factor split")));

/// Operations without regions that are no terminators. Random programs test the others.
static std::vector<std::string> getOperations(MLIRContext &context) {
  std::vector<std::string> names;
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == ir::TitanDialect::getDialectNamespace() &&
        !op.hasTrait<OpTrait::SingleBlock>() && !op.hasTrait<OpTrait::IsTerminator>())
      if (std::string name = op.stripDialect().str();
          only.empty() || llvm::is_contained(only, name))
        names.push_back(name);
  llvm::sort(names);
  return names;
}

static bool check(MLIRContext &context, const Case &c, Draw &draw, Counts &counts) {
  ++counts.cases;
  const int64_t one[] = {2}, two[] = {2, 2};
  return checkGradient(&context, c, draw, counts) &&
         checkDecomposition(&context, c, draw, counts) &&
         checkShardings(&context, c, one, broken, counts) &&
         checkShardings(&context, c, two, broken, counts) &&
         (broken != Break::Nothing || checkPadding(&context, c, counts));
}

static bool print(MLIRContext &context, const Case &c, Draw &draw) {
  std::optional<llvm::json::Value> described = describe(&context, c, draw);
  if (described)
    llvm::outs() << *described << '\n';
  return described.has_value();
}

/// Runs cases until one fails, or adds them to `module`.
static bool checkOperation(MLIRContext &context, const std::string &name, Case (*generate)(Draw &),
                           ModuleOp module) {
  Counts counts;
  for (uint64_t seed = firstSeed; seed < firstSeed + count; ++seed) {
    Draw draw(&context, seed, large);
    Case c = generate(draw);
    c.op = "titan." + name;
    if (moduleOnly) {
      addProgram(module, c, name + "_" + std::to_string(seed));
      continue;
    }
    if (describeOnly ? !print(context, c, draw) : !check(context, c, draw, counts)) {
      llvm::errs() << "FAILED titan." << name << ": try titan-check-ops --count=1 --seed=" << seed
                   << ' ' << name << '\n';
      return false;
    }
  }
  if (!describeOnly && !moduleOnly)
    llvm::outs() << llvm::format(
        "ok     %-16s %5u cases, %5u gradients, %5u definitions, %6u shardings, %5u paddings\n",
        name.c_str(), counts.cases, counts.gradients, counts.decompositions, counts.shardings,
        counts.paddings);
  return true;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Checks every operation on generated cases\n");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Generators generators;
  addElementwiseGenerators(generators);
  addTensorGenerators(generators);
  addNeuralGenerators(generators);
  std::vector<std::string> names = getOperations(context);
  OwningOpRef<ModuleOp> module = makeModule(&context);
  unsigned failures = 0;
  for (const std::string &name : names) {
    auto generator = generators.find(name);
    if (generator == generators.end())
      llvm::errs() << "FAILED titan." << name << ": has no generator in tests/ops\n";
    failures +=
        generator == generators.end() || !checkOperation(context, name, generator->second, *module);
    llvm::outs().flush();
  }
  if (moduleOnly)
    module->print(llvm::outs());
  else if (!describeOnly)
    llvm::outs() << names.size() - failures << " out of " << names.size() << " operations passed\n";
  return failures || names.empty() ? 1 : 0;
}
