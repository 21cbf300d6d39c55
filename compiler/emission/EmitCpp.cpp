// From planned IR to C++ source.

#include "compiler/emission/EmitCpp.h"

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/ProgramTable.h"
#include "compiler/emission/WatchNumbers.h"
#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/registration/RegisterAll.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

static void declareTables(RepeatOp repeat, LocalSizes &sizes) {
  getVariantTable(sizes, repeat);
  for (const VariantLists &lists : {repeat.getAllScannedUsers(), repeat.getAllStackedUsers()})
    for (ArrayRef<int64_t> users : lists)
      if (users.size() < repeat.getNumVariants())
        getSlotTable(sizes, repeat, users);
}

/// Declares every size in the types of the function, so local names can avoid them.
static void declareSizes(func::FuncOp function, ProgramState &state) {
  LocalSizes &sizes = state.sizes;
  auto declare = [&](Type type) {
    if (auto tensor = dyn_cast<NamedTensorType>(type)) {
      sizes.getCountBeforeFlat(tensor);
      sizes.getDims(tensor);
    }
  };
  llvm::for_each(function.getArgumentTypes(), declare);
  for (Value argument : function.getArguments())
    state.getBucketSize(memory::getAllocRef(argument));
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), declare);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), declare);
    if (auto repeat = dyn_cast<RepeatOp>(op); repeat && repeat.getNumVariants() > 1)
      declareTables(repeat, sizes);
  });
}

/// The code of a function: the members of a namespace.
static FailureOr<std::string> emitCode(func::FuncOp function, Target target) {
  ProgramState state(function, target);
  declareSizes(function, state);
  state.sizes.reserveNames(state.functionNames);
  FunctionEmitter emitter(state, {});
  if (failed(emitter.emitFunction("run", function.getBody().front())))
    return failure();
  Writer code;
  for (const std::string &constant : state.sizes.getConstants())
    code.line(constant);
  code.blank();
  code.raw(state.functions);
  return code.str();
}

static void emitNamespace(StringRef name, StringRef code, Writer &out) {
  out.line("namespace " + name + " {");
  out.blank();
  out.raw(code);
  out.line("} // namespace " + name);
  out.blank();
}

static void emitHead(ModuleOp module, dist::MeshOp mesh, Writer &out) {
  auto model = module->getAttrOfType<StringAttr>(ir::attr::kModel);
  out.line(comment(("Emitted by titanc" + (model ? " from the model " + model.getValue() : "") +
                    ". Sizes are those of one rank.")
                       .str()));
  out.line("#include \"titan/runtime/kernel_loops.h\"");
  out.line("#include \"titan/runtime/program_table.h\"");
  if (watchesNumbers(module))
    out.line("#include \"titan/runtime/watch.h\"");
  out.blank();
  out.line("using namespace titan::rt;");
  out.blank();
  out.line("namespace {");
  out.blank();
  out.line("namespace tm = titan::rt::tm;");
  out.blank();
  if (!mesh)
    return;
  out.line("/// Axes of the mesh, outer to inner.");
  out.line("namespace mesh {");
  std::string axes;
  for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
    axes += (axes.empty() ? "" : ", ") + LocalSizes::getConstant(mesh, axis.getName());
  out.line("enum : int { " + axes + " };");
  out.line("}");
  out.blank();
}

/// Emits the functions of `module` and their tables. Functions with equal code, such as the
/// middle stages of a pipeline, share the code. `scope` contains reserved function names.
static LogicalResult emitPrograms(ModuleOp module, ProgramTable &table, Target target,
                                  NameScope scope, Writer &out) {
  if (!module->hasAttr(memory::kPersistent))
    return module.emitError("values have no allocations yet: run --titan-plan-memory first");
  SmallVector<func::FuncOp> functions;
  SmallVector<std::string> namespaces;
  llvm::StringMap<std::string> namespaceOf; ///< by code
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(attr::kProgram))
      continue;
    if (failed(memory::verifyAllocRefs(function, /*isComplete=*/true)))
      return failure();
    FailureOr<std::string> code = emitCode(function, target);
    if (failed(code))
      return failure();
    auto [entry, isNew] = namespaceOf.try_emplace(*code);
    if (isNew) {
      entry->second = scope.pick(function.getSymName());
      emitNamespace(entry->second, *code, out);
    }
    functions.push_back(function);
    namespaces.push_back(entry->second);
  }
  table.emitDescription(functions, namespaces);
  return success();
}

LogicalResult emission::emitCpp(ModuleOp module, ModuleOp degreeOne, llvm::raw_ostream &stream,
                                Target target) {
  Writer out;
  dist::MeshOp mesh = dist::MeshOp::lookup(module);
  emitHead(module, mesh, out);
  NameScope scope;
  dist::MeshAxisAttr axis = dist::findAutoAxis(mesh);
  std::string degreeOneNamespace = degreeOne ? scope.pick(axis.getName().str() + "_1") : "";
  ProgramTable table(module, out);
  if (failed(emitPrograms(module, table, target, scope, out)))
    return failure();
  if (degreeOne) {
    out.line(comment("The same where the degree of `" + axis.getName().str() + "` is 1."));
    out.line("namespace " + degreeOneNamespace + " {");
    out.blank();
    ProgramTable degreeOneTable(degreeOne, out);
    if (failed(emitPrograms(degreeOne, degreeOneTable, target, scope, out)))
      return failure();
    out.line("} // namespace " + degreeOneNamespace);
    out.blank();
  }
  HostFunctions hostFunctions(module, scope, out);
  out.line("} // namespace");
  out.blank();
  table.emit(hostFunctions, degreeOneNamespace,
             llvm::utohexstr(llvm::xxh3_64bits(out.str()), /*LowerCase=*/true));
  stream << out.str();
  return success();
}

void emission::registerToCpp(const std::function<void(DialectRegistry &registry)> &extend) {
  auto dialects = [extend](DialectRegistry &registry) {
    registerDialects(registry);
    extend(registry);
  };
  TranslateFromMLIRRegistration cpp(
      "titan-to-cpp", "write a planned program as C++",
      [](ModuleOp module, llvm::raw_ostream &out) { return emitCpp(module, {}, out, Target::Cpu); },
      dialects);
  TranslateFromMLIRRegistration cuda(
      "titan-to-cuda", "write a planned program as CUDA C++",
      [](ModuleOp module, llvm::raw_ostream &out) {
        return emitCpp(module, {}, out, Target::Cuda);
      },
      dialects);
}
