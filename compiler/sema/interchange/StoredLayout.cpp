#include "compiler/sema/interchange/StoredLayout.h"
#include "compiler/sema/modules/Suggest.h"

#include "base/text/ReadNumber.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

LayoutReader::LayoutReader(const Model &model, const AppliedWeights &weights,
                           const Library &library, DiagnosticEngine &diags)
    : model(model),
      sizes(model, weights.parameters, library, *weights.declarations.front().unit, diags),
      tensors(weights.tensors), component(weights.component), diags(diags) {
  for (const Symbol &symbol : weights.declarations)
    for (const WeightsDecl::Split &split : symbol.decl->as<WeightsDecl>()->splits)
      splits.push_back(&split);
}

Diagnostic &LayoutReader::report(Code code, Location loc, const std::string &message) const {
  Diagnostic &diag = diags.report(code, loc, message);
  if (component)
    diag.note(component->loc, "in the map of this component");
  return diag;
}

std::optional<Layout> LayoutReader::read(const WeightsDecl::Entry &entry,
                                         const Parameter &parameter) {
  Layout layout{&entry, parameter.name, parameter.iterations, tensors + entry.tensor.text, {}, {},
                {}};
  for (DimId dim : parameter.type.dims)
    if (!addFactors(model.dims[dim], layout.factors))
      return std::nullopt;
  if (!readName(entry, parameter, layout))
    return std::nullopt;
  if (!entry.dims) {
    keepDims(layout);
    return layout;
  }
  if (!readDims(*entry.dims, layout) || !checkFactors(entry, layout))
    return std::nullopt;
  return layout;
}

bool LayoutReader::fits(const WeightsDecl::Entry &entry, const Parameter &parameter) const {
  auto isDim = [&](const std::string &name) {
    return std::any_of(parameter.type.dims.begin(), parameter.type.dims.end(),
                       [&](DimId dim) { return model.dims[dim].name == name; });
  };
  auto isFactor = [&](const std::string &name) {
    return std::any_of(splits.begin(), splits.end(), [&](const WeightsDecl::Split *split) {
      return isDim(split->dim.text()) &&
             std::any_of(split->factors.begin(), split->factors.end(),
                         [&](const DimsStmt::Item &item) { return item.name.text == name; });
    });
  };
  if (entry.dims)
    for (const WeightsDecl::Dim &dim : *entry.dims)
      for (const WeightsDecl::Factor &factor : dim.factors)
        if (const std::string name = factor.dim.text();
            !name.empty() && !isDim(name) && !isFactor(name))
          return false;
  return true;
}

bool LayoutReader::addFactors(const Dim &dim, std::vector<Factor> &factors) {
  for (const WeightsDecl::Split *split : splits)
    if (split->dim.text() == dim.name)
      return addSplit(*split, dim, factors);
  factors.push_back({dim.name, dim.name, dim.size});
  return true;
}

/// The size of one factor without a size follows from the others.
bool LayoutReader::addSplit(const WeightsDecl::Split &split, const Dim &dim,
                            std::vector<Factor> &factors) {
  int64_t rest = dim.size;
  const size_t first = factors.size();
  size_t open = SIZE_MAX;
  for (const DimsStmt::Item &item : split.factors) {
    factors.push_back({item.name.text, dim.name, 1});
    if (!item.size && open == SIZE_MAX) {
      open = factors.size() - 1;
      continue;
    }
    std::optional<int64_t> size = item.size ? sizes.evaluate(*item.size) : 0;
    if (!size)
      return false;
    factors.back().size = *size;
    rest = *size > 0 && rest % *size == 0 ? rest / *size : 0;
  }
  if (open != SIZE_MAX && rest > 0)
    factors[open].size = std::exchange(rest, 1);
  if (rest == 1)
    return true;
  factors.resize(first);
  report(Code::BadStoredDims, split.loc,
         "the product of the factors is not `" + dim.name + "` = " + std::to_string(dim.size))
      .help("give all factors but one a size");
  return false;
}

std::optional<int64_t> LayoutReader::computeOffset(const NameIndex &index, const Name &tensor) {
  if (index.offset.empty())
    return 0;
  if (NumberText number = readNumber(index.offset); number && number.isWhole)
    return number.integer;
  if (std::optional<int64_t> size = sizes.find(index.offset))
    return size;
  report(Code::BadTensorName, tensor.loc, "the model has no size `" + index.offset + "`");
  return std::nullopt;
}

/// The names of the indices in the order of their numbers: repeats, then factors.
std::vector<std::string> LayoutReader::numberIndices(const TensorName &name,
                                                     const Parameter &parameter, Layout &layout) {
  std::vector<std::string> numbered;
  for (DimId repeat : parameter.repeats)
    numbered.push_back(model.dims[repeat].name);
  for (Factor &factor : layout.factors) {
    factor.isInName =
        std::any_of(name.indices.begin(), name.indices.end(),
                    [&](const NameIndex &index) { return index.name == factor.name; });
    if (factor.isInName)
      numbered.push_back(factor.name);
  }
  return numbered;
}

bool LayoutReader::readName(const WeightsDecl::Entry &entry, const Parameter &parameter,
                            Layout &layout) {
  std::optional<TensorName> name = parseTensorName(layout.writtenTensor);
  if (!name) {
    report(Code::BadTensorName, entry.tensor.loc, "the braces of this name do not match")
        .help("an index is written `{layers}` or `{layers + 1}`");
    return false;
  }
  const std::vector<std::string> numbered = numberIndices(*name, parameter, layout);
  layout.tensor = name->literals[0];
  for (size_t i = 0; i < name->indices.size(); ++i) {
    const NameIndex &index = name->indices[i];
    const auto found = std::find(numbered.begin(), numbered.end(), index.name);
    if (found == numbered.end())
      return reportIndex(entry, parameter, index);
    const std::optional<int64_t> offset = computeOffset(index, entry.tensor);
    if (!offset)
      return false;
    layout.tensor += "{" + std::to_string(found - numbered.begin()) +
                     (*offset ? "+" + std::to_string(*offset) : "") + "}" + name->literals[i + 1];
  }
  return checkRepeats(entry, *name, parameter);
}

bool LayoutReader::reportIndex(const WeightsDecl::Entry &entry, const Parameter &parameter,
                               const NameIndex &index) {
  report(Code::BadTensorName, entry.tensor.loc,
         "`" + index.name + "` is neither a repeat nor a dimension of `" + entry.parameter.text() +
             "`")
      .note(parameter.loc, "declared here");
  return false;
}

bool LayoutReader::checkRepeats(const WeightsDecl::Entry &entry, const TensorName &name,
                                const Parameter &parameter) {
  for (DimId dim : parameter.repeats) {
    const std::string &repeat = model.dims[dim].name;
    if (std::any_of(name.indices.begin(), name.indices.end(),
                    [&](const NameIndex &index) { return index.name == repeat; }))
      continue;
    report(Code::BadTensorName, entry.tensor.loc,
           "all iterations of `" + repeat + "` would have one tensor")
        .help("write `{" + repeat + "}` in the name");
    return false;
  }
  return true;
}

/// Without brackets, the stored tensor has the dimensions of the parameter, except those in its
/// name.
void LayoutReader::keepDims(Layout &layout) {
  std::string last;
  for (Factor &factor : layout.factors) {
    if (factor.isInName)
      continue;
    if (factor.ofDim != last || layout.dims.empty())
      layout.dims.push_back({});
    last = factor.ofDim;
    factor.storedDim = static_cast<int>(layout.dims.size()) - 1;
  }
  for (auto factor = layout.factors.rbegin(); factor != layout.factors.rend(); ++factor)
    if (!factor->isInName)
      factor->strideInDim = std::exchange(layout.dims[factor->storedDim].extent,
                                          layout.dims[factor->storedDim].extent * factor->size);
}

bool LayoutReader::readDims(const std::vector<WeightsDecl::Dim> &dims, Layout &layout) {
  for (size_t d = 0; d < dims.size(); ++d) {
    layout.dims.push_back({});
    for (size_t i = dims[d].factors.size(); i-- > 0;) // inner factors first
      if (!addFactor(dims[d].factors[i], static_cast<int>(d), layout))
        return false;
    if (!dims[d].from)
      continue;
    std::optional<int64_t> from = sizes.evaluate(*dims[d].from);
    if (!from || !checkRange(*from, layout.dims[d].extent, INT64_MAX, dims[d].loc))
      return false;
    layout.dims[d].from = *from;
  }
  return true;
}

/// Reports indices from `from` on that are not within the extent.
bool LayoutReader::checkRange(int64_t from, int64_t size, int64_t extent, Location loc) {
  if (from >= 0 && from <= extent - size)
    return true;
  report(Code::BadStoredDims, loc,
         std::to_string(size) + " indices from " + std::to_string(from) + " on are not within " +
             std::to_string(extent));
  return false;
}

/// Places a factor, all factors of a dimension, or an index, in their extent.
bool LayoutReader::addFactor(const WeightsDecl::Factor &written, int d, Layout &layout) {
  StoredDim &dim = layout.dims[d];
  const int64_t innerExtent = dim.extent;
  if (!written.dim.segments.empty() && !addDim(written, d, layout))
    return false;
  const int64_t size = dim.extent / innerExtent; // 1 for an index
  const std::optional<int64_t> extent = written.extent ? sizes.evaluate(*written.extent) : size;
  const std::optional<int64_t> from = written.from ? sizes.evaluate(*written.from) : 0;
  if (!extent || !from)
    return false;
  if (!checkRange(*from, size, *extent, written.loc))
    return false;
  const std::optional<int64_t> newExtent = sizes.multiply(*extent, innerExtent, written.loc);
  if (!newExtent)
    return false;
  dim.first += *from * innerExtent;
  dim.extent = *newExtent;
  return true;
}

/// Places a factor, or all factors of a dimension.
bool LayoutReader::addDim(const WeightsDecl::Factor &written, int d, Layout &layout) {
  const std::string name = written.dim.text();
  bool isKnown = false;
  for (auto factor = layout.factors.rbegin(); factor != layout.factors.rend(); ++factor) {
    if (factor->name != name && factor->ofDim != name)
      continue;
    isKnown = true;
    if (factor->isInName || factor->storedDim >= 0)
      break;
    int64_t &extent = layout.dims[d].extent;
    const std::optional<int64_t> newExtent = sizes.multiply(extent, factor->size, written.loc);
    if (!newExtent)
      return false;
    factor->storedDim = d;
    factor->strideInDim = std::exchange(extent, *newExtent);
    if (factor->name == name || factor + 1 == layout.factors.rend() || (factor + 1)->ofDim != name)
      return true;
  }
  Diagnostic &diag = report(Code::BadStoredDims, written.loc,
                            "`" + name + "` " +
                                (isKnown ? "occurs twice" : "is not a dimension of the parameter"));
  std::vector<std::string> names;
  for (const Factor &each : layout.factors)
    names.push_back(each.name);
  if (!isKnown)
    suggestName(diag, written.loc, name, names, "its dimensions are ");
  return false;
}

bool LayoutReader::checkFactors(const WeightsDecl::Entry &entry, const Layout &layout) {
  for (const Factor &factor : layout.factors)
    if (!factor.isInName && factor.storedDim < 0) {
      report(Code::BadStoredDims, entry.loc,
             "the stored tensor lacks the dimension `" + factor.name + "`")
          .help("name each dimension of the parameter once");
      return false;
    }
  return true;
}

} // namespace titan::sema
