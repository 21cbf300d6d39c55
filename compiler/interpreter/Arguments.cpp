// Initial values of a program's arguments.

#include "compiler/interpreter/Arguments.h"

#include "base/data/Feed.h"
#include "base/random/RandomStream.h"
#include "compiler/interpreter/LearningRate.h"
#include "compiler/interpreter/Padding.h"
#include "compiler/interpreter/Rounding.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;
namespace attr = titan::ir::attr;

Role interpreter::getArgumentRole(func::FuncOp function, unsigned index) {
  constexpr std::pair<const char *, llvm::StringLiteral> kinds[] = {{"param", attr::kParam},
                                                                    {"state", attr::kState},
                                                                    {"input", attr::kInput},
                                                                    {"cache", attr::kCache},
                                                                    {"scalar", attr::kScalar}};
  for (auto [kind, name] : kinds)
    if (auto role = function.getArgAttrOfType<StringAttr>(index, name))
      return {kind, role.str()};
  return {"value", std::to_string(index)};
}

Role interpreter::getResultRole(func::FuncOp function, unsigned index) {
  constexpr std::pair<const char *, llvm::StringLiteral> kinds[] = {{"output", attr::kOutput},
                                                                    {"gradient", attr::kGradient}};
  for (auto [kind, name] : kinds)
    if (auto role = function.getResultAttrOfType<StringAttr>(index, name))
      return {kind, role.str()};
  if (auto updated = function.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates)) {
    Role argument = getArgumentRole(function, updated.getInt());
    // A parameter `m.w` is not the moment `m` of a parameter `w`.
    return {argument.kind == "state" ? "state" : "update", argument.name, argument.kind};
  }
  return {"value", std::to_string(index)};
}

std::vector<int64_t> interpreter::getChunkStarts(func::FuncOp function, int64_t step) {
  if (ir::findArgument(function, attr::kScalar, ir::kPositionScalar))
    return {(step - 1) * ir::countPositions(function)};
  std::vector<int64_t> starts;
  if (auto slots = ir::findArgument(function, attr::kScalar, ir::kSlotPositionsScalar))
    for (int64_t slot :
         llvm::seq(cast<NamedTensorType>(function.getArgumentTypes()[*slots]).getNumElements()))
      starts.push_back(std::max<int64_t>(0, step - 1 - slot));
  return starts;
}

static HostTensor makeZeros(NamedTensorType type) {
  HostTensor tensor;
  tensor.shape = type.getShape();
  tensor.data.assign(type.getNumElements(), 0.0);
  return tensor;
}

namespace {

/// Element `index` of an initial value.
double draw(ir::InitAttr init, double scale, const RandomStream &stream, uint64_t index) {
  double cut = init.getCut() ? init.getCut().getValueAsDouble() : 0;
  switch (init.getKind()) {
  case ir::InitKind::Constant:
    return scale;
  case ir::InitKind::Uniform:
    return scale * (2 * stream.uniform(index) - 1);
  case ir::InitKind::TruncatedNormal:
    if (cut > 0)
      return scale * stream.truncatedNormal(index, -cut, cut);
    [[fallthrough]];
  case ir::InitKind::Normal:
    return scale * stream.normal(index);
  }
  return 0;
}

/// A stacked tensor is initialised slot by slot, each slot under its own name and from element 0.
HostTensor initialize(NamedTensorType type, ArrayRef<std::string> layers, ir::InitAttr init,
                      uint64_t seed) {
  HostTensor tensor = makeZeros(type);
  int64_t size = type.getNumElements() / layers.size();
  ArrayRef<double> scales = init.getScale().asArrayRef();
  for (auto [layer, name] : llvm::enumerate(layers)) {
    RandomStream stream(seed, "init", name);
    double scale = scales.empty() ? 0 : scales[scales.size() == 1 ? 0 : layer];
    for (int64_t i = 0; i < size; ++i)
      tensor.data[layer * size + i] = draw(init, scale, stream, i);
  }
  return tensor;
}

/// From `titan.sizes`, else the size of the dimension that the inputs index.
int64_t findVocab(func::FuncOp function, const Settings &settings) {
  if (settings.vocab > 0)
    return settings.vocab;
  if (auto sizes =
          function->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(ir::attr::kSizes))
    if (auto vocab = sizes.getAs<IntegerAttr>("vocab"))
      return vocab.getInt();
  for (Value argument : function.getArguments())
    for (Operation *user : argument.getUsers())
      if (auto gather = dyn_cast<ir::GatherOp>(user); gather && gather.getIndices() == argument) {
        NamedTensorType table = gather.getInput().getType();
        return table.getDims()[table.findDimIndex(gather.getAlongAttr())].getSize();
      }
  return 0;
}

/// Numbers of documents, or positions in documents, as `feed` says: a document begins at the start
/// of each row, and at every other position with probability 1/8.
void generatePositions(HostTensor &tensor, int64_t columns, Feed feed, uint64_t firstSample,
                       const Settings &settings) {
  RandomStream stream(settings.seed, "input", "documents");
  int64_t document = 0, begin = 0;
  for (size_t i = 0; i < tensor.data.size(); ++i) {
    const int64_t column = static_cast<int64_t>(i) % columns;
    const bool begins = stream.uniform(firstSample * static_cast<uint64_t>(columns) + i) < 0.125;
    if (column == 0)
      document = begin = 0;
    else if (begins) {
      ++document;
      begin = column;
    }
    tensor.data[i] = static_cast<double>(feed == Feed::Documents ? document : column - begin);
  }
}

/// Sequences of positions + 1 tokens. `labels` drops the first token, all other inputs the last
/// one.
FailureOr<HostTensor> generateTokens(func::FuncOp function, NamedTensorType type, StringRef name,
                                     const Settings &settings, int64_t step) {
  HostTensor tensor = makeZeros(type);
  int64_t columns = type.getRank() ? type.getShape().back() : 1,
          rows = tensor.data.size() / columns;
  if (std::optional<Feed> feed = findFeed(name); feed && isBelowSampleLength(*feed)) {
    generatePositions(tensor, columns, *feed, static_cast<uint64_t>((step - 1) * rows), settings);
    return tensor;
  }
  int64_t vocab = findVocab(function, settings), shift = name == "labels";
  if (vocab <= 0)
    return function.emitError("cannot generate input \"")
           << name << "\": the module has no `titan.sizes` with a vocab; pass --vocab";
  RandomStream stream(settings.seed, "input", "tokens");
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t sample = (step - 1) * rows + row;
      tensor.data[row * columns + column] =
          std::floor(stream.uniform(sample * (columns + 1) + column + shift) * vocab);
    }
  return tensor;
}

/// An array, or weights: normal numbers, or integers from [0, below).
HostTensor generateArray(NamedTensorType type, StringRef name, IntegerAttr below,
                         const Settings &settings, int64_t step) {
  HostTensor tensor = makeZeros(type);
  int64_t columns = type.getRank() ? type.getShape().back() : 1,
          rows = tensor.data.size() / columns;
  RandomStream stream(settings.seed, "input", name.str());
  for (auto [i, element] : llvm::enumerate(tensor.data)) {
    uint64_t row = (step - 1) * rows + i / columns, at = row * (columns + 1) + i % columns;
    element = below ? std::floor(stream.uniform(at) * static_cast<double>(below.getInt()))
                    : stream.normal(at);
  }
  return tensor;
}

FailureOr<HostTensor> generateInput(func::FuncOp function, unsigned index, NamedTensorType type,
                                    StringRef name, const Settings &settings, int64_t step) {
  auto below = function.getArgAttrOfType<IntegerAttr>(index, attr::kDrawnBelow);
  if (below || !type.getElementType().isInteger(64))
    return generateArray(type, name, below, settings, step);
  return generateTokens(function, type, name, settings, step);
}

/// The chunk of an input that begins at position `start`: generates the input of all positions up
/// to the end of the chunk and keeps the last ones. Chunks together thus equal the whole input.
FailureOr<HostTensor> generateChunk(func::FuncOp function, unsigned index, NamedTensorType type,
                                    StringRef name, const Settings &settings, int64_t start) {
  const auto names = ir::DataDimsAttr::lookup(function);
  const int64_t dim = names && names.getPositions() ? type.findDimIndex(names.getPositions()) : -1;
  if (dim < 0 || dim != type.getRank() - 1)
    return function.emitError("input \"") << name << "\" has no positions as its last dimension";
  SmallVector<ir::DimAttr> dims(type.getDims());
  const int64_t size = dims[dim].getSize(), columns = start + size;
  dims[dim] =
      ir::DimAttr::get(type.getContext(), dims[dim].getName(), columns, dims[dim].getOrigin());
  auto whole = generateInput(function, index, NamedTensorType::get(type.getElementType(), dims),
                             name, settings, /*step=*/1);
  if (failed(whole))
    return failure();
  HostTensor chunk = makeZeros(type);
  for (size_t row = 0; row < chunk.data.size() / size; ++row)
    std::copy_n(whole->data.begin() + row * columns + start, size, chunk.data.begin() + row * size);
  return chunk;
}

/// Each slot has the text of the first sample, at its own position of `starts`.
FailureOr<HostTensor> generateSlots(func::FuncOp function, unsigned index, NamedTensorType type,
                                    StringRef name, const Settings &settings,
                                    ArrayRef<int64_t> starts) {
  if (type.getDims().front().getName() != ir::kSlotDim)
    return function.emitError("input \"") << name << "\" has no slots as its first dimension";
  SmallVector<ir::DimAttr> dims(type.getDims());
  dims.front() = ir::DimAttr::get(type.getContext(), dims.front().getName(), 1);
  auto one = NamedTensorType::get(type.getElementType(), dims);
  HostTensor all{type.getShape(), {}};
  for (int64_t start : starts) {
    auto row = generateChunk(function, index, one, name, settings, start);
    if (failed(row))
      return failure();
    llvm::append_range(all.data, row->data);
  }
  return all;
}

FailureOr<HostTensor> readLiteral(func::FuncOp function, NamedTensorType type, Attribute literal) {
  HostTensor tensor = makeZeros(type);
  if (auto values = dyn_cast<DenseF64ArrayAttr>(literal))
    if (static_cast<size_t>(values.size()) == tensor.data.size()) {
      llvm::copy(values.asArrayRef(), tensor.data.begin());
      return tensor;
    }
  return function.emitError("`titan.value` must be array<f64: ...> of ")
         << tensor.data.size() << " numbers for " << type;
}

/// Whether the tensor of a file whose name is that of the role, without a prefix, is the argument.
/// It is not if the argument is state and a parameter has the same name.
bool isFoundByName(func::FuncOp function, const Role &role) {
  if (role.kind != "state")
    return true;
  return llvm::none_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
    return function.getArgAttr(i, attr::kParam) && getArgumentRole(function, i).name == role.name;
  });
}

/// The value of an argument from the file, which may contain a stacked tensor or its layers one by
/// one. Also finds the names that --dump writes.
FailureOr<std::optional<HostTensor>> findGiven(func::FuncOp function, NamedTensorType type,
                                               const Role &role, ArrayRef<std::string> layers,
                                               const Settings &settings) {
  HostTensor tensor = makeZeros(type);
  const bool byName = isFoundByName(function, role);
  const std::string prefix = role.kind == "state" ? "state." : "update.";
  SmallVector<std::string> names{role.name};
  if (!byName || !settings.given.count(role.name))
    names.assign(layers.begin(), layers.end());
  size_t size = tensor.data.size() / names.size();
  for (auto [i, slotName] : llvm::enumerate(names)) {
    auto given = byName ? settings.given.find(slotName) : settings.given.end();
    if (given == settings.given.end())
      given = settings.given.find(prefix + slotName);
    if (given == settings.given.end())
      return std::optional<HostTensor>();
    if (given->second.data.size() != size)
      return function.emitError("the file gives ")
             << given->second.data.size() << " elements for " << slotName << ", expected " << size;
    llvm::copy(given->second.data, tensor.data.begin() + i * size);
  }
  return std::optional(tensor);
}

FailureOr<HostTensor> makeUnrounded(func::FuncOp function, unsigned index, NamedTensorType type,
                                    const Settings &settings, int64_t step) {
  Role role = getArgumentRole(function, index);
  SmallVector<std::string> layers =
      ir::getSlotNames(role.name, ir::getStack(function.getArgAttr(index, attr::kStacked), type),
                       role.kind == "state");
  auto given = findGiven(function, type, role, layers, settings);
  if (failed(given))
    return failure();
  if (*given)
    return **given;
  if (Attribute literal = function.getArgAttr(index, ir::attr::kValue))
    return readLiteral(function, type, literal);
  if (auto init = function.getArgAttrOfType<ir::InitAttr>(index, attr::kInit))
    return initialize(type, layers, init, settings.seed);
  if (role.kind == "state" || role.kind == "cache")
    return makeZeros(type);
  const std::vector<int64_t> starts = getChunkStarts(function, step);
  if (role.kind == "input" && starts.size() == 1)
    return generateChunk(function, index, type, role.name, settings, starts.front());
  if (role.kind == "input" && !starts.empty())
    return generateSlots(function, index, type, role.name, settings, starts);
  if (role.kind == "input")
    return generateInput(function, index, type, role.name, settings, step);
  if (role.kind == "scalar" && type.getRank() == 0) {
    if (role.name == "lr") {
      auto module = function->getParentOfType<ModuleOp>();
      FailureOr<double> rate = settings.lr ? *settings.lr : getLearningRate(module, step);
      if (failed(rate))
        return failure();
      return HostTensor{{}, {*rate}};
    }
    if (StringRef schedule = role.name; schedule.consume_front(ir::getRateScalar({}) + ".")) {
      FailureOr<double> rate =
          getLearningRate(function->getParentOfType<ModuleOp>(), step, schedule);
      if (failed(rate))
        return failure();
      return HostTensor{{}, {*rate}};
    }
    if (role.name == ir::kPositionScalar)
      return HostTensor{{}, {double(starts.front())}};
    if (role.name == ir::kSlotScalar || role.name == "sample")
      return HostTensor{{}, {0.0}};
    if (role.name == "step" || role.name == "seed")
      return HostTensor{{}, {double(role.name == "step" ? step : int64_t(settings.seed))}};
  }
  if (role.kind == "scalar" && role.name == ir::kSlotPositionsScalar)
    return HostTensor{type.getShape(), {starts.begin(), starts.end()}};
  return function.emitError("argument ")
         << index << " (" << role.str()
         << ") has no value: expected titan.init, titan.value, a role, "
         << "or a tensor of that name in the --inputs file";
}

} // namespace

FailureOr<HostTensor> interpreter::makeArgument(func::FuncOp function, unsigned index,
                                                const Settings &settings, int64_t step) {
  auto type = dyn_cast<NamedTensorType>(function.getArgumentTypes()[index]);
  if (!type)
    return function.emitError("argument ") << index << " is not a titan tensor";
  NamedTensorType unpadded = getUnpadded(type, function.getArgAttr(index, attr::kUnpadded));
  FailureOr<HostTensor> value = makeUnrounded(function, index, unpadded, settings, step);
  if (failed(value))
    return failure();
  roundTo(type.getElementType(), value->data);
  return unpadded == type ? *value : addPadding(*value, type.getShape());
}
