//===- DecodeCheck.cpp - Chunks of positions against all of them ----------===//

#include "compiler/interpreter/DecodeCheck.h"

#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Format.h"
#include "dialects/titan/Support/Programs.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

/// Copies `chunk` to the positions from `start` on of a tensor of type `type`.
static void insert(const HostTensor &chunk, int64_t start, NamedTensorType type,
                   HostTensor &whole) {
  const int64_t at = type.indexOf(StringAttr::get(type.getContext(), ir::kPositionDim));
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != at)
      (i < at ? outer : inner) *= type.getShape()[i];
  const int64_t run = chunk.shape[at] * inner;
  for (int64_t o = 0; o < outer; ++o)
    std::copy_n(chunk.data.begin() + o * run, run,
                whole.data.begin() + (o * type.getShape()[at] + start) * inner);
}

/// The outputs of all positions, put together from chunks. `whole`: the types of the outputs.
static FailureOr<std::vector<HostTensor>> runChunks(Session &session, ArrayRef<Result> whole) {
  std::vector<HostTensor> outputs;
  for (const Result &result : whole)
    outputs.push_back({result.global.shape, std::vector<double>(result.global.data.size(), NAN)});
  const int64_t size = ir::countPositions(session.getFunction());
  const NamedTensorType type = whole.front().type;
  const int64_t positions =
      type.getShape()[type.indexOf(StringAttr::get(type.getContext(), ir::kPositionDim))];
  for (int64_t start = 0; start < positions; start += size) {
    if (failed(session.step()))
      return failure();
    for (auto [result, output] : llvm::zip_equal(whole, outputs))
      insert(session.find(result.role)->global, start, result.type, output);
  }
  return outputs;
}

LogicalResult interpreter::checkDecode(ModuleOp module, int64_t autoDegree,
                                       const Settings &settings, double tolerance,
                                       raw_ostream &stream) {
  auto whole = Session::create(module, "logits", autoDegree, settings);
  if (failed(whole) || failed(whole->step()))
    return failure();
  bool hasProgram = false, agree = true;
  for (StringRef program : {"prefill", "decode"}) {
    if (!module.lookupSymbol(program))
      continue;
    hasProgram = true;
    auto chunks = Session::create(module, program, autoDegree, settings);
    if (failed(chunks))
      return failure();
    auto outputs = runChunks(*chunks, whole->getResults());
    if (failed(outputs))
      return failure();
    double greatest = 0;
    for (auto [output, result] : llvm::zip_equal(*outputs, whole->getResults())) {
      const double deviation = getDeviation(output, result.global);
      greatest = deviation <= greatest ? greatest : deviation; // also if it is NaN
    }
    const bool agrees = greatest <= tolerance;
    agree &= agrees;
    stream << program << ": " << (agrees ? "agrees" : "DIFFERENT") << ", "
           << ir::countPositions(chunks->getFunction()) << " positions at once, greatest deviation "
           << format(greatest) << '\n';
  }
  if (!hasProgram)
    return module.emitError("the module has no program of generation to compare with @logits");
  return success(agree);
}
