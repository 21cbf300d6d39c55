// Compares generation in chunks of positions with @logits.

#include "compiler/interpreter/DecodeCheck.h"

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Format.h"
#include "dialects/titan/Support/Programs.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

/// The text in slot `slot` of an output of a program; the whole output if it has no slots.
static HostTensor getText(const Result &output, int64_t slot) {
  auto slots = StringAttr::get(output.type.getContext(), ir::kSlotDim);
  const int64_t dim = std::max<int64_t>(0, output.type.findDimIndex(slots));
  HostTensor text{output.global.shape, {}};
  int64_t outer = 1, inner = 1;
  for (auto [i, size] : llvm::enumerate(text.shape))
    if (static_cast<int64_t>(i) != dim)
      (static_cast<int64_t>(i) < dim ? outer : inner) *= size;
  for (int64_t o = 0; o < outer; ++o) {
    auto from = output.global.data.begin() + (o * text.shape[dim] + slot) * inner;
    text.data.insert(text.data.end(), from, from + inner);
  }
  text.shape[dim] = 1;
  return text;
}

/// Copies `count` indices from `start` on along dimension `dim` of a tensor of type `type`.
static HostTensor slice(const HostTensor &whole, int64_t start, int64_t count, NamedTensorType type,
                        int64_t dim) {
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim)
      (i < dim ? outer : inner) *= type.getShape()[i];
  HostTensor chunk{whole.shape, {}};
  chunk.shape[dim] = count;
  for (int64_t o = 0; o < outer; ++o) {
    auto from = whole.data.begin() + (o * type.getShape()[dim] + start) * inner;
    chunk.data.insert(chunk.data.end(), from, from + count * inner);
  }
  return chunk;
}

/// The greatest deviation of the chunks of all positions, and of all slots, from `whole`, the
/// outputs at all positions.
static FailureOr<double> compareChunks(Session &session, ArrayRef<Result> whole) {
  func::FuncOp function = session.getFunction();
  const int64_t size = ir::countPositions(function);
  const StringAttr dim = ir::DataDimsAttr::lookup(function).getPositions();
  const NamedTensorType type = whole.front().type;
  const int64_t positions = type.getShape()[type.findDimIndex(dim)];
  double greatest = 0;
  for (int64_t step = 1; step <= positions / size; ++step) {
    if (failed(session.step()))
      return failure();
    for (auto [slot, start] : llvm::enumerate(getChunkStarts(function, step)))
      for (const Result &result : whole) {
        const double deviation = getDeviation(
            getText(*session.find(result.role), static_cast<int64_t>(slot)),
            slice(result.global, start, size, result.type, result.type.findDimIndex(dim)));
        greatest = deviation <= greatest ? greatest : deviation; // also if it is NaN
      }
  }
  return greatest;
}

/// ` of each of 8 texts`, if there are slots.
static std::string describeSlots(func::FuncOp function) {
  const size_t slots = getChunkStarts(function, 1).size();
  return slots > 1 ? " of each of " + std::to_string(slots) + " texts" : "";
}

LogicalResult interpreter::checkDecode(ModuleOp module, int64_t autoDegree,
                                       const Settings &settings, double tolerance,
                                       raw_ostream &stream) {
  if (auto dims = ir::DataDimsAttr::lookup(module); !dims || !dims.getPositions())
    return module.emitError("expected `titan.data_dims` with the dimension of positions");
  auto whole = Session::create(module, "logits", autoDegree, settings);
  if (failed(whole) || failed(whole->step()))
    return failure();
  bool hasProgram = false, agree = true;
  for (StringRef program :
       {StringRef("prefill"), StringRef("decode"), StringRef(ir::kBatchProgram)}) {
    if (!module.lookupSymbol(program))
      continue;
    hasProgram = true;
    auto chunks = Session::create(module, program, autoDegree, settings);
    if (failed(chunks))
      return failure();
    FailureOr<double> greatest = compareChunks(*chunks, whole->getResults());
    if (failed(greatest))
      return failure();
    const bool agrees = *greatest <= tolerance;
    agree &= agrees;
    stream << program << ": " << (agrees ? "agrees" : "DIFFERENT") << ", "
           << ir::countPositions(chunks->getFunction()) << " positions at once"
           << describeSlots(chunks->getFunction()) << ", greatest deviation " << format(*greatest)
           << '\n';
  }
  if (!hasProgram)
    return module.emitError("the module has no program of generation to compare with @logits");
  return success(agree);
}
