#include "compiler/sema/program/Fingerprint.h"

#include "compiler/sema/program/Reachability.h"

#include <cstdio>
#include <unordered_map>

namespace titan::sema {
namespace {

class StructureWriter {
public:
  StructureWriter(const Model &model, const Reachability &reachable)
      : model(model), reachable(reachable) {}

  std::string write() {
    writeRegion(model.body);
    for (const Output &loss : model.losses)
      line("loss " + loss.name, {loss.value});
    return std::move(text);
  }

private:
  void writeRegion(const Region &region) {
    for (ValueId argument : region.arguments)
      define(argument);
    for (const Op &op : region.ops)
      if (reachable.needs(op))
        writeOp(op);
    line("yield", region.yields);
  }

  void writeOp(const Op &op) {
    if (isSameValue(op)) {
      numbers[op.results[0]] = getNumber(op.operands[0]);
      return;
    }
    line(std::to_string(static_cast<int>(op.kind)) + " " + op.word + " " + getTensorName(op) +
             printDims(op.dims),
         op.operands);
    for (const Region &body : op.body)
      writeRegion(body);
    for (ValueId result : op.results) {
      define(result);
      text += " ->" + printDims(model.values[result].type.dims) + "\n";
    }
  }

  /// Whether an operation does not belong to the structure: element types follow from the precision
  /// of the run, and sharding constraints from the map.
  bool isSameValue(const Op &op) const {
    auto isFloatValue = [&](ValueId id) { return isFloat(model.values[id].type.dtype); };
    return op.kind == OpKind::ShardingConstraint ||
           (op.kind == OpKind::Cast && isFloatValue(op.operands[0]) && isFloatValue(op.results[0]));
  }

  std::string getTensorName(const Op &op) const {
    if (op.kind == OpKind::Parameter || op.kind == OpKind::Update)
      return model.parameters[op.index].name;
    return op.kind == OpKind::Input ? model.inputs[op.index].name : "";
  }

  template <typename Dims> std::string printDims(const Dims &dims) const {
    std::string names;
    for (DimId dim : dims)
      names += " " + model.dims[dim].name;
    return names;
  }

  void line(const std::string &words, const std::vector<ValueId> &operands) {
    text += words + " (";
    for (ValueId operand : operands)
      text += " " + std::to_string(getNumber(operand));
    text += " )\n";
  }

  void define(ValueId id) { numbers.emplace(id, defined++); }
  size_t getNumber(ValueId id) const {
    auto found = numbers.find(id);
    return found == numbers.end() ? SIZE_MAX : found->second;
  }

  const Model &model;
  const Reachability &reachable;
  std::unordered_map<ValueId, size_t> numbers; ///< in the order of the operations
  size_t defined = 0; ///< the next number; several values can have the same
  std::string text;
};

} // namespace

std::string describeStructure(const Model &model) {
  std::vector<ValueId> roots;
  for (const Output &loss : model.losses)
    roots.push_back(loss.value);
  return StructureWriter(model, Reachability(model, roots, /*updates=*/true)).write();
}

std::string computeFingerprint(const Model &model) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (unsigned char byte : describeStructure(model))
    hash = (hash ^ byte) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

} // namespace titan::sema
