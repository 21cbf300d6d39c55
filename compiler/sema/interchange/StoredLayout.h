// The layout of one parameter in a stored tensor: an entry of a `weights` declaration, applied to
// the parameter. Plain data.
#pragma once

#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/interchange/MapSizes.h"
#include "compiler/sema/interchange/TensorName.h"

namespace titan::sema {

/// A factor of a parameter's dimension: the complete dimension, or a factor that a `split` names.
struct Factor {
  std::string name, ofDim;
  int64_t size;
  bool isInName = false;   ///< each index has a separate tensor, by its name
  int storedDim = -1;      ///< the stored dimension that contains the factor
  int64_t strideInDim = 1; ///< in indices of the stored dimension
};

/// One stored dimension: `extent` indices, which begin at index `from` of the stored tensor. Of
/// these, the one with number `first` is the first one of the parameter.
struct StoredDim {
  int64_t from = 0, extent = 1, first = 0;
};

/// An entry applied to its parameter, before the sizes of the stored tensor are known.
struct Layout {
  const syntax::WeightsDecl::Entry *entry;
  std::string parameter;
  /// Of the parameter: for each repeat, the sorted iterations that have it.
  std::vector<std::vector<int64_t>> iterations;
  std::string writtenTensor; ///< as the entry and the component name it
  std::string tensor;        ///< with numbers for the names of indices: `layers.{0}.wq`
  std::vector<Factor> factors;
  std::vector<StoredDim> dims;

  int64_t countElements() const {
    int64_t count = 1;
    for (const Factor &factor : factors)
      count *= factor.isInName ? 1 : factor.size;
    return count;
  }
};

/// Reads entries of declarations that are applied to a model or to a component of it.
class LayoutReader {
public:
  LayoutReader(const Model &model, const AppliedWeights &weights, const Library &library,
               DiagnosticEngine &diags);

  /// Whether the brackets of the entry name dimensions of the parameter only.
  bool fits(const syntax::WeightsDecl::Entry &entry, const Parameter &parameter) const;
  /// Empty after a report.
  std::optional<Layout> read(const syntax::WeightsDecl::Entry &entry, const Parameter &parameter);

private:
  using Splits = std::vector<const syntax::WeightsDecl::Split *>;

  /// Reports an error, with a note if the map is that of a component.
  Diagnostic &report(Code code, Location loc, const std::string &message) const;
  bool addFactors(const Dim &dim, std::vector<Factor> &factors);
  bool addSplit(const syntax::WeightsDecl::Split &split, const Dim &dim,
                std::vector<Factor> &factors);
  std::vector<std::string> numberIndices(const TensorName &name, const Parameter &parameter,
                                         Layout &layout);
  bool readName(const syntax::WeightsDecl::Entry &entry, const Parameter &parameter,
                Layout &layout);
  std::optional<int64_t> computeOffset(const NameIndex &index, const syntax::Name &tensor);
  bool reportIndex(const syntax::WeightsDecl::Entry &entry, const Parameter &parameter,
                   const NameIndex &index);
  bool checkRepeats(const syntax::WeightsDecl::Entry &entry, const TensorName &name,
                    const Parameter &parameter);
  static void keepDims(Layout &layout);
  bool readDims(const std::vector<syntax::WeightsDecl::Dim> &dims, Layout &layout);
  bool checkRange(int64_t from, int64_t size, int64_t extent, Location loc);
  bool addDim(const syntax::WeightsDecl::Factor &written, int d, Layout &layout);
  bool addFactor(const syntax::WeightsDecl::Factor &written, int d, Layout &layout);
  bool checkFactors(const syntax::WeightsDecl::Entry &entry, const Layout &layout);

  const Model &model;
  MapSizes sizes;
  Splits splits;
  std::string tensors; ///< the prefix of the names of tensors
  const syntax::WeightsDecl::Component *component;
  DiagnosticEngine &diags;
};

} // namespace titan::sema
