// Runs a program that is cut into fragments.

#include "compiler/interpreter/Fragments.h"

#include "compiler/interpreter/Arguments.h"
#include "compiler/interpreter/StepOrder.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/TensorType.h"

#include <set>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
namespace attr = titan::ir::attr;

bool interpreter::isFragmented(func::FuncOp function) {
  return function->hasAttr(dist::kFragmentsAttr);
}

LogicalResult interpreter::checkFragments(func::FuncOp declaration, const RankMesh &mesh) {
  SmallVector<func::FuncOp> fragments = dist::getFragments(declaration);
  if (fragments.size() != declaration->getAttrOfType<ArrayAttr>(dist::kFragmentsAttr).size())
    return declaration.emitError("lists a fragment that the module does not have");
  for (func::FuncOp fragment : fragments) {
    if (fragment.isExternal() || !fragment->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr))
      return fragment.emitError("is not a fragment of @") << declaration.getName();
    if (failed(checkTypes(fragment, mesh)))
      return failure();
  }
  return success();
}

namespace {

/// A crossing value, of a microbatch or (-1) of the step.
using ValueId = std::pair<std::string, int64_t>;

class FragmentScript : public Script {
public:
  FragmentScript(func::FuncOp declaration, ArrayRef<func::FuncOp> fragments, const RankMesh &mesh,
                 const RankTensors &arguments, const StepOrder &order)
      : declaration(declaration), mesh(mesh), arguments(arguments), order(order),
        ranks(mesh.getNumRanks()) {
    for (func::FuncOp fragment : fragments)
      for (unsigned i = 0; i < fragment.getNumArguments(); ++i)
        if (StringAttr name = getCrossing(fragment.getArgAttrDict(i)))
          readers[name.str()].insert(getStage(fragment));
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
      ranks[rank].calls = order.getCalls(rank);
      ranks[rank].results.resize(declaration.getNumResults());
    }
  }

  FailureOr<std::unique_ptr<Device>> start(int64_t rank) override;
  LogicalResult finish(const Device &device) override;
  bool isFinished(int64_t rank) const override {
    return ranks[rank].next == ranks[rank].calls.size();
  }
  std::string describeWait(int64_t rank) const override;

  /// All results of the program, by rank. A rank takes results of other stages from their ranks.
  FailureOr<RankTensors> takeResults();

private:
  struct RankState {
    std::vector<FragmentCall> calls;
    size_t next = 0;
    std::map<ValueId, TensorRef> values;
    std::vector<TensorRef> results;
  };

  static StringAttr getCrossing(DictionaryAttr attributes);
  static int64_t getStage(func::FuncOp fragment);
  static ValueId getId(DictionaryAttr attributes, int64_t microbatch);
  const ValueId *findMissing(int64_t rank, ValueId &storage) const;
  FailureOr<TensorRef> getArgument(int64_t rank, const FragmentCall &call, unsigned index);
  std::optional<unsigned> findArgument(func::FuncOp fragment, unsigned index);
  std::optional<unsigned> findResult(func::FuncOp fragment, unsigned index);
  void deliver(int64_t rank, const ValueId &id, const TensorRef &value);

  func::FuncOp declaration;
  const RankMesh &mesh;
  const RankTensors &arguments;
  const StepOrder &order;
  std::map<std::string, std::set<int64_t>> readers; ///< stages, by the name of the value
  std::vector<RankState> ranks;
};

StringAttr FragmentScript::getCrossing(DictionaryAttr attributes) {
  for (StringRef role : {attr::kStash, attr::kStepValue})
    if (auto name = attributes ? attributes.getAs<StringAttr>(role) : StringAttr())
      return name;
  return {};
}

int64_t FragmentScript::getStage(func::FuncOp fragment) {
  return fragment->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr).getStage();
}

ValueId FragmentScript::getId(DictionaryAttr attributes, int64_t microbatch) {
  bool isStash = attributes.get(attr::kStash) != nullptr;
  return {getCrossing(attributes).str(), isStash ? microbatch : -1};
}

/// The first value that the next fragment of `rank` lacks, which is then in `storage`; null if the
/// rank has all values.
const ValueId *FragmentScript::findMissing(int64_t rank, ValueId &storage) const {
  const RankState &state = ranks[rank];
  const FragmentCall &call = state.calls[state.next];
  func::FuncOp fragment = call.fragment;
  for (unsigned i = 0; i < fragment.getNumArguments(); ++i) {
    DictionaryAttr attributes = fragment.getArgAttrDict(i);
    if (!getCrossing(attributes))
      continue;
    storage = getId(attributes, call.microbatch);
    if (!state.values.count(storage))
      return &storage;
  }
  return nullptr;
}

std::string FragmentScript::describeWait(int64_t rank) const {
  ValueId storage;
  const ValueId *missing = findMissing(rank, storage);
  const FragmentCall &call = ranks[rank].calls[ranks[rank].next];
  func::FuncOp fragment = call.fragment;
  std::string text = "`" + (missing ? missing->first : std::string()) + "`";
  if (missing && missing->second >= 0)
    text += " of microbatch " + std::to_string(missing->second);
  return text + " to run @" + fragment.getName().str();
}

/// Whether an argument of a fragment and one of its program are the same tensor.
static bool isSameRole(func::FuncOp a, unsigned i, func::FuncOp b, unsigned j) {
  return getArgumentRole(a, i) == getArgumentRole(b, j) &&
         a.getArgAttr(i, attr::kStage) == b.getArgAttr(j, attr::kStage);
}

/// The index of the program's argument that argument `index` of a fragment is.
std::optional<unsigned> FragmentScript::findArgument(func::FuncOp fragment, unsigned index) {
  for (unsigned i = 0; i < declaration.getNumArguments(); ++i)
    if (isSameRole(fragment, index, declaration, i))
      return i;
  return std::nullopt;
}

/// The index of the program's result that result `index` of a fragment is.
std::optional<unsigned> FragmentScript::findResult(func::FuncOp fragment, unsigned index) {
  auto updated = fragment.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates);
  for (unsigned i = 0; i < declaration.getNumResults(); ++i) {
    auto target = declaration.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
    if (bool(updated) != bool(target))
      continue;
    if (updated ? isSameRole(fragment, updated.getInt(), declaration, target.getInt())
                : getResultRole(fragment, index) == getResultRole(declaration, i) &&
                      fragment.getResultAttr(index, attr::kStage) ==
                          declaration.getResultAttr(i, attr::kStage))
      return i;
  }
  return std::nullopt;
}

/// Slot `slot` of a tensor with a leading dimension.
static TensorRef takeSlot(const HostTensor &whole, int64_t slot) {
  auto slice = std::make_shared<HostTensor>();
  slice->shape.assign(whole.shape.begin() + 1, whole.shape.end());
  int64_t size = whole.data.size() / whole.shape.front();
  slice->data.assign(whole.data.begin() + slot * size, whole.data.begin() + (slot + 1) * size);
  return slice;
}

FailureOr<TensorRef> FragmentScript::getArgument(int64_t rank, const FragmentCall &call,
                                                 unsigned index) {
  func::FuncOp fragment = call.fragment;
  DictionaryAttr attributes = fragment.getArgAttrDict(index);
  if (getCrossing(attributes))
    return ranks[rank].values.at(getId(attributes, call.microbatch));
  Role role = getArgumentRole(fragment, index);
  if (role.kind == "scalar" && role.name == "microbatch")
    return TensorRef(
        std::make_shared<HostTensor>(HostTensor{{}, {static_cast<double>(call.microbatch)}}));
  std::optional<unsigned> number = findArgument(fragment, index);
  if (!number)
    return fragment.emitError("reads ")
           << role.str() << ", which @" << declaration.getName() << " does not have";
  TensorRef value = arguments[rank][*number];
  return attributes && attributes.get(attr::kMicrobatch) ? takeSlot(*value, call.microbatch)
                                                         : value;
}

FailureOr<std::unique_ptr<Device>> FragmentScript::start(int64_t rank) {
  ValueId storage;
  if (isFinished(rank) || findMissing(rank, storage))
    return std::unique_ptr<Device>();
  const FragmentCall &call = ranks[rank].calls[ranks[rank].next];
  func::FuncOp fragment = call.fragment;
  std::vector<TensorRef> values;
  for (unsigned i = 0; i < fragment.getNumArguments(); ++i) {
    FailureOr<TensorRef> value = getArgument(rank, call, i);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return makeDevice(fragment, rank, mesh, values);
}

/// Gives a value to this rank and to the ranks whose stages read it.
void FragmentScript::deliver(int64_t rank, const ValueId &id, const TensorRef &value) {
  ranks[rank].values[id] = value;
  for (int64_t stage : readers[id.first])
    ranks[order.getRankOfStage(rank, stage)].values[id] = value;
}

LogicalResult FragmentScript::finish(const Device &device) {
  int64_t rank = device.getRank();
  RankState &state = ranks[rank];
  const FragmentCall &call = state.calls[state.next++];
  func::FuncOp fragment = call.fragment;
  for (auto [index, value] : llvm::enumerate(device.getResults())) {
    DictionaryAttr attributes = fragment.getResultAttrDict(index);
    auto updated = fragment.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates);
    if (updated)
      if (DictionaryAttr target = fragment.getArgAttrDict(updated.getInt()); getCrossing(target)) {
        state.values[getId(target, call.microbatch)] = value;
        continue;
      }
    if (getCrossing(attributes)) {
      deliver(rank, getId(attributes, call.microbatch), value);
      continue;
    }
    std::optional<unsigned> number = findResult(fragment, index);
    if (!number)
      return fragment.emitError("returns ") << getResultRole(fragment, index).str() << ", which @"
                                            << declaration.getName() << " does not";
    state.results[*number] = value;
  }
  return success();
}

FailureOr<RankTensors> FragmentScript::takeResults() {
  RankTensors results;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    std::vector<TensorRef> all = ranks[rank].results;
    for (unsigned i = 0; i < all.size(); ++i) {
      for (int64_t stage = 0; !all[i] && stage < order.getNumStages(); ++stage)
        all[i] = ranks[order.getRankOfStage(rank, stage)].results[i];
      if (!all[i])
        return declaration.emitError("no fragment returns ") << getResultRole(declaration, i).str();
    }
    results.push_back(std::move(all));
  }
  return results;
}

} // namespace

FailureOr<RankTensors> interpreter::interpretFragments(func::FuncOp declaration,
                                                       const RankMesh &mesh,
                                                       const RankTensors &arguments) {
  SmallVector<func::FuncOp> fragments = dist::getFragments(declaration);
  FailureOr<StepOrder> order = StepOrder::get(declaration, mesh);
  if (failed(order))
    return failure();
  FragmentScript script(declaration, fragments, mesh, arguments, *order);
  if (failed(runScript(script, mesh, declaration.getLoc())))
    return failure();
  return script.takeResults();
}
