// Weights to start from: the tensors of one source or several, as the parameters of a program.
#pragma once

#include "WeightStore.h"
#include "WeightTable.h"
#include "base/weights/StridedLayout.h"

#include <map>
#include <optional>
#include <set>

namespace titan::rt {

/// One iteration of a parameter, as a program needs it.
struct NeededWeights {
  std::string name;                ///< layers.3.wq
  std::string parameter;           ///< layers.wq
  std::vector<int64_t> iterations; ///< {3}
  std::vector<int64_t> shape;      ///< in files with the program's own names
  DType type = DType::F32;
  bool isOptional = false; ///< keeps its initial values where the files lack it
  bool isPartial = false;  ///< keeps its last ones where dimensions are shorter in the files
};

/// Matches the tensors of sources with the parameters of a program, and reads them. A source uses
/// the program's names if it has a tensor of such a name; else the names and layouts of the
/// program's weight map, also with another first part or
/// without one: `h.0.ln_1.weight` or `model.text.h.0.ln_1.weight` for
/// `transformer.h.0.ln_1.weight`. In all cases, the prefix of a source precedes the names of its
/// tensors. Of a parameter with a second entry in the map, which is that of another parameter, the
/// tensors of that one apply where the sources have no own ones: a copy starts as its original.
class StartingWeights {
public:
  /// `stores` has one element for each source. All arguments must outlive this object.
  StartingWeights(const WeightMap &map, std::span<const WeightSource> sources,
                  std::span<const WeightStore> stores);

  /// Errors, by name, unless each of these weights starts from tensors of one source, in their
  /// shapes, and each tensor is one of these weights, a copy equal to its original, or unused.
  /// Calls of the other functions refer to the last `match` by the index of the weights.
  void match(std::span<const NeededWeights> needed);
  /// Whether a source has these weights.
  bool has(size_t index) const { return !matched[index].tensors.empty(); }
  /// Reads rows of these weights to their rows of `out`, as the needed type, by all threads.
  /// Elements that the source lacks stay unchanged.
  void read(size_t index, std::span<const ElementRows> rows, std::byte *out) const;
  const std::vector<WeightRow> &rows() const { return table; }
  /// The element types of the matched tensors with names of the weight map, by these names.
  std::map<std::string, std::string> storedTypes() const;
  /// Releases the memory of what was read of the files.
  void release() const;

private:
  /// A tensor of a source.
  struct SourceTensor {
    size_t source;
    std::string name;   ///< within the source
    std::string mapped; ///< as the weight map or the program names it
  };
  /// The stored tensors of one iteration of a parameter.
  struct Match {
    StoredParameter stored;            ///< as the files have it
    std::vector<SourceTensor> tensors; ///< by the number of the stored tensor; none: fresh
    std::vector<int64_t> sizes = {};   ///< of `stored` in the program
    DType type = DType::F32;
    std::optional<StridedLayout> layout = {};

    bool isPartial() const { return sizes != stored.sizes; }
  };

  void requestTensors(const Match &match, std::span<const ElementRows> rows) const;
  void readSegment(const Match &match, const ElementRows &rows, std::byte *out) const;
  std::set<std::string> makeMappedNames(std::span<const NeededWeights> needed) const;
  void nameTensors(std::span<const NeededWeights> needed);
  void checkPrefixes(std::span<const NeededWeights> needed) const;
  void findOwnSources(std::span<const NeededWeights> needed);
  const StoredParameter *findEntry(const std::string &parameter) const;
  const StoredParameter *findAlternative(const std::string &parameter) const;
  std::optional<NeededWeights> findOriginal(const NeededWeights &copy) const;
  std::optional<SourceTensor> find(const std::string &name, bool inOwn) const;
  Match matchOwn(const NeededWeights &needed) const;
  Match matchMapped(const NeededWeights &needed, std::vector<std::string> &absent) const;
  Match matchAny(const NeededWeights &needed, std::vector<std::string> &absent) const;
  int64_t countTensors(const std::string &parameter) const;
  void noteMissing(const NeededWeights &needed, const std::vector<std::string> &absent);
  void matchOne(const NeededWeights &needed);
  bool isOfAnotherModel() const;
  std::string describeOthers() const;
  void fitShape(const NeededWeights &needed, Match &match) const;
  void addRows(const NeededWeights &needed, const Match &match);
  void checkCopy(const std::string &copy, const std::string &original) const;
  void matchRest();
  std::string describe(const SourceTensor &given) const;
  std::string describeSources() const;

  const WeightMap &map;
  std::span<const WeightSource> sources;
  std::span<const WeightStore> stores;
  std::map<std::string, SourceTensor> tensors; ///< by `mapped`
  std::vector<bool> isOwn;                     ///< for each source: it uses the program's names
  std::span<const NeededWeights> allNeeded;    ///< of the last `match`
  std::vector<Match> matched;
  std::set<std::string> used; ///< `mapped` names
  std::vector<WeightRow> table;
  std::vector<std::string> missing, unmapped; ///< tensors, parameters; for errors
  std::string lacking; ///< a parameter of which no tensor is in the sources; empty: none
};

} // namespace titan::rt
