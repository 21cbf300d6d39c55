#include "compiler/onnx/StoredWeights.h"

#include "base/Error.h"
#include "base/weights/StridedLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <filesystem>

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace fs = std::filesystem;
using Sizes = std::vector<int64_t>;

static std::string describe(llvm::ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), ", ") +
         "]";
}

static std::optional<ElementType> findType(llvm::StringRef stored) {
  return llvm::StringSwitch<std::optional<ElementType>>(stored)
      .Case("F32", ElementType::F32)
      .Case("F64", ElementType::F64)
      .Case("F16", ElementType::F16)
      .Case("BF16", ElementType::BF16)
      .Case("I64", ElementType::I64)
      .Case("BOOL", ElementType::Bool)
      .Default(std::nullopt);
}

StoredWeights::StoredWeights(const std::string &directory, ir::WeightMapAttr map)
    : directory(directory), isMapped(static_cast<bool>(map)) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(directory, error))
    if (entry.path().extension() == ".safetensors")
      files.push_back(entry.path().string());
  if (files.empty())
    throw UserError(directory +
                    " has no safetensors files; write them with the program: `PROGRAM "
                    "export --init-from WEIGHTS --hf " +
                    directory + "`");
  std::sort(files.begin(), files.end());
  for (const std::string &file : files)
    addFile(file);
  if (!map)
    return;
  for (auto parameter : map.getParameters().getAsRange<ir::StoredParameterAttr>())
    stored.emplace(parameter.getParameter().str(), parameter);
  for (NamedAttribute copy : map.getCopies())
    originals.emplace(cast<StringAttr>(copy.getValue()).str(), copy.getName().str());
  if (map.getMerged())
    for (auto name : map.getMerged().getAsRange<StringAttr>())
      merged.push_back(name.str());
}

void StoredWeights::addFile(const std::string &path) {
  const SafetensorsFile file(path);
  const std::byte *begin = file.mapping().bytes().data();
  for (const auto &[name, tensor] : file.tensors())
    if (const std::optional<ElementType> type = findType(tensor.dtype))
      entries.try_emplace(name, Entry{fs::path(path).filename().string(), *type, tensor.shape,
                                      tensor.bytes.data() - begin,
                                      static_cast<int64_t>(tensor.bytes.size())});
}

/// The tensor as it is stored, without names of axes.
Tensor StoredWeights::readStored(Translation &translation, const std::string &name,
                                 const Sizes &shape) const {
  auto found = entries.find(name);
  if (const auto copy = originals.find(name); found == entries.end() && copy != originals.end())
    found = entries.find(copy->second);
  if (found == entries.end())
    throw UserError(directory + " has no tensor `" + name + "`");
  const Entry &entry = found->second;
  if (entry.shape != shape)
    throw UserError(directory + ": the tensor `" + name + "` has the shape " +
                    describe(entry.shape) + ", the program expects " + describe(shape));
  Tensor tensor{
      translation.getGraph().addExternal(
          {name, entry.type, shape, "", ExternalData{entry.file, entry.offset, entry.length}}),
      entry.type,
      {}};
  for (int64_t size : shape)
    tensor.axes.push_back({{}, {size, {}}});
  return tensor;
}

namespace {

/// A factor of a parameter that is strided in a stored tensor.
struct Factor {
  int64_t size, stride;
  size_t number; ///< among all factors
};

/// The stored tensor has its elements in a grid with an axis per factor, the greatest stride first.
class Grid {
public:
  Grid(std::vector<Factor> factors, int64_t start, int64_t elements)
      : factors(std::move(factors)), elements(elements), start(start) {
    std::stable_sort(this->factors.begin(), this->factors.end(),
                     [](const Factor &a, const Factor &b) { return a.stride > b.stride; });
  }

  /// False if strides do not divide one another, or a factor crosses the end of its axis.
  bool fit() {
    int64_t outer = elements, rest = start;
    for (const Factor &factor : factors) {
      if (outer % factor.stride)
        return false;
      shape.push_back(outer / factor.stride);
      begins.push_back(rest / factor.stride);
      sizes.push_back(factor.size);
      if (begins.back() + factor.size > shape.back())
        return false;
      rest %= factor.stride;
      outer = factor.stride;
    }
    shape.push_back(outer); // elements between those of the last factor
    begins.push_back(rest);
    sizes.push_back(1);
    return true;
  }

  /// The place of each factor in the order of strides.
  Sizes getOrder() const {
    Sizes order(factors.size());
    std::vector<size_t> numbers;
    for (const Factor &factor : factors)
      numbers.push_back(factor.number);
    std::vector<size_t> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      order[i] = std::find(numbers.begin(), numbers.end(), sorted[i]) - numbers.begin();
    order.push_back(static_cast<int64_t>(factors.size()));
    return order;
  }

  Sizes shape, begins, sizes;

private:
  std::vector<Factor> factors;
  int64_t elements, start;
};

} // namespace

static Tensor reshapeTo(Translation &translation, Tensor tensor, const Sizes &shape) {
  GraphBuilder &graph = translation.getGraph();
  return {graph.add("Reshape", {tensor.name, graph.addIntegers(shape)}), tensor.type, {}};
}

/// The elements of the grid in the order of the factors.
static Tensor readGrid(Translation &translation, Tensor tensor, const Grid &grid) {
  GraphBuilder &graph = translation.getGraph();
  tensor = reshapeTo(translation, tensor, grid.shape);
  Sizes axes, begins, ends;
  for (size_t i = 0; i < grid.shape.size(); ++i)
    if (grid.sizes[i] != grid.shape[i]) {
      axes.push_back(static_cast<int64_t>(i));
      begins.push_back(grid.begins[i]);
      ends.push_back(grid.begins[i] + grid.sizes[i]);
    }
  if (!axes.empty())
    tensor.name = graph.add("Slice", {tensor.name, graph.addIntegers(begins),
                                      graph.addIntegers(ends), graph.addIntegers(axes)});
  const Sizes order = grid.getOrder();
  if (!std::is_sorted(order.begin(), order.end()))
    tensor.name = graph.add("Transpose", {tensor.name}, {{"perm", order}});
  return tensor;
}

/// The elements up to the next one of the factor with the greatest stride.
static int64_t countSpan(llvm::ArrayRef<Factor> factors) {
  int64_t length = 1, greatest = 0;
  for (const Factor &factor : factors)
    if (factor.stride > greatest) {
      greatest = factor.stride;
      length = factor.size * factor.stride;
    }
  return length;
}

/// The elements `start` to `start + length` of a tensor.
static Tensor cutRange(Translation &translation, const Tensor &whole, int64_t start,
                       int64_t length) {
  GraphBuilder &graph = translation.getGraph();
  Tensor flat = reshapeTo(translation, whole, {-1});
  flat.name =
      graph.add("Slice", {flat.name, graph.addIntegers(start), graph.addIntegers(start + length),
                          graph.addIntegers(int64_t{0})});
  return flat;
}

/// The elements that a parameter has of one stored tensor, in their order.
static Tensor readTensor(Translation &translation, const Tensor &whole,
                         const StoredParameter &stored) {
  std::vector<Factor> factors;
  int64_t elements = 1;
  for (int64_t size : stored.shape)
    elements *= size;
  for (size_t i = 0; i < stored.sizes.size(); ++i)
    if (stored.strides[i] && stored.sizes[i] > 1)
      factors.push_back({stored.sizes[i], stored.strides[i], i});
  Grid grid(factors, stored.start, elements);
  if (grid.fit())
    return readGrid(translation, whole, grid);
  // A range of rows, such as a part of a fused projection, need not begin at a multiple of its
  // size.
  const int64_t length = countSpan(factors);
  Grid ofRange(std::move(factors), 0, length);
  if (stored.start + length > elements || !ofRange.fit())
    throw UserError("the layout of the parameter `" + stored.parameter + "` in the tensor `" +
                    stored.tensor + "` has no form in ONNX");
  return readGrid(translation, cutRange(translation, whole, stored.start, length), ofRange);
}

/// Parts in the order of the factors that number tensors, joined; then all factors in their order.
static Tensor joinTensors(Translation &translation, llvm::ArrayRef<Tensor> tensors,
                          const StoredParameter &stored) {
  GraphBuilder &graph = translation.getGraph();
  Sizes shape, order;
  for (bool numbersTensors : {true, false})
    for (size_t i = 0; i < stored.sizes.size(); ++i)
      if ((stored.strides[i] == 0) == numbersTensors) {
        shape.push_back(stored.sizes[i]);
        order.push_back(static_cast<int64_t>(i));
      }
  llvm::SmallVector<std::string> rows;
  for (const Tensor &tensor : tensors)
    rows.push_back(reshapeTo(translation, tensor, {1, -1}).name);
  Tensor all{graph.add("Concat", rows, {{"axis", int64_t{0}}}), tensors.front().type, {}};
  all = reshapeTo(translation, all, shape);
  Sizes perm(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    perm[order[i]] = static_cast<int64_t>(i);
  if (!std::is_sorted(perm.begin(), perm.end()))
    all.name = graph.add("Transpose", {all.name}, {{"perm", perm}});
  return all;
}

static StoredParameter toPlain(ir::StoredParameterAttr from) {
  return {from.getParameter().str(),          from.getTensor().str(),
          from.getShape().asArrayRef().vec(), from.getStart(),
          from.getSizes().asArrayRef().vec(), from.getStrides().asArrayRef().vec()};
}

Tensor StoredWeights::readMapped(Translation &translation, const ParameterSlot &slot,
                                 ir::StoredParameterAttr from) const {
  const StoredParameter layout = toPlain(from);
  const int64_t count = StridedLayout(layout).countTensors();
  llvm::SmallVector<Tensor> tensors;
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = makeTensorName(layout, slot.iterations, i);
    const Tensor whole = translation.cast(readStored(translation, name, layout.shape), slot.type);
    tensors.push_back(readTensor(translation, whole, layout));
  }
  Tensor tensor = count == 1 ? tensors.front() : joinTensors(translation, tensors, layout);
  Sizes shape;
  for (const Axis &axis : slot.axes)
    shape.push_back(axis.extent.constant);
  tensor = reshapeTo(translation, tensor, shape);
  tensor.axes = slot.axes;
  return tensor;
}

Tensor StoredWeights::read(Translation &translation, const ParameterSlot &slot) const {
  if (llvm::is_contained(merged, slot.parameter))
    throw UserError("`" + slot.parameter.str() +
                    "` is merged into other parameters by `export --hf`; translate the program "
                    "without it, which `titanc import` writes for the exported directory");
  const auto mapped = stored.find(slot.parameter.str());
  if (mapped != stored.end())
    return readMapped(translation, slot, mapped->second);
  Sizes shape;
  for (const Axis &axis : slot.axes)
    shape.push_back(axis.extent.constant);
  Tensor tensor = translation.cast(readStored(translation, slot.name, shape), slot.type);
  tensor.axes = slot.axes;
  return tensor;
}
