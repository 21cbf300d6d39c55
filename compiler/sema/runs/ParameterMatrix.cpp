#include "compiler/sema/runs/ParameterMatrix.h"

#include <algorithm>
#include <map>
#include <set>

namespace titan::sema {

namespace {

/// A value that contains elements of the parameter.
struct View {
  std::map<DimId, DimId> origins; ///< of its dimensions, those that are dimensions of the parameter
  std::set<DimId> selected; ///< dimensions of the parameter of which an index selects elements
};

/// The roles of the parameter's dimensions in one contraction.
struct Use {
  std::set<DimId> batch, outputs, inputs;
  Location loc;
};

/// Visits the operations of a model that use one parameter.
class UseFinder {
public:
  UseFinder(const Model &model, uint32_t parameter) : model(model), parameter(parameter) {
    visit(model.body);
  }
  MatrixUses combine() const;

private:
  void visit(const Region &region);
  std::optional<View> look(const Op &op, size_t operand) const;
  void addContraction(const Op &op, size_t operand);
  MatrixRoles getRoles(const Use &use, const std::set<DimId> &batch) const;
  std::string describe(const Use &use) const;

  const DimSet &getDims(ValueId value) const { return model.values[value].type.dims; }

  const Model &model;
  uint32_t parameter;
  std::map<ValueId, View> views;
  std::vector<Use> uses;
  std::optional<Location> other; ///< of the first use that is no contraction
};

void UseFinder::visit(const Region &region) {
  for (const Op &op : region.ops) {
    if (op.kind == OpKind::Parameter && op.index == parameter)
      for (DimId dim : getDims(op.results[0]))
        views[op.results[0]].origins[dim] = dim;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!views.count(op.operands[i]))
        continue;
      if (op.kind == OpKind::Contract)
        addContraction(op, i);
      else if (std::optional<View> view = look(op, i))
        views[op.results[0]] = std::move(*view);
      else if (!other)
        other = op.loc;
    }
    for (const Region &body : op.body)
      visit(body);
  }
}

/// The result as a view of the parameter; nothing if the operation computes with the elements.
std::optional<View> UseFinder::look(const Op &op, size_t operand) const {
  View view = views.at(op.operands[operand]);
  auto select = [&](DimId dim) {
    if (auto origin = view.origins.extract(dim))
      view.selected.insert(origin.mapped());
  };
  auto isOfParameter = [&](DimId dim) { return view.origins.count(dim) != 0; };
  switch (op.kind) {
  case OpKind::Cast:
  case OpKind::StopGradient:
  case OpKind::ShardingConstraint:
    return view;
  case OpKind::Rename:
    if (auto origin = view.origins.extract(op.dims[0])) {
      origin.key() = op.dims[1];
      view.origins.insert(std::move(origin));
    }
    return view;
  case OpKind::Gather: // dimensions of the index select, too: each element has its own index
    if (operand != 0)
      return std::nullopt;
    select(op.dims[0]);
    for (DimId dim : getDims(op.operands[1]))
      select(dim);
    return view;
  case OpKind::Slice: // `w[experts: 3]` is a slice of one element and a sum over it
    if (model.dims[op.dims[1]].size != 1)
      return std::nullopt;
    select(op.dims[0]);
    return view;
  case OpKind::Reduce:
    return std::none_of(op.dims.begin(), op.dims.end(), isOfParameter) ? std::optional(view)
                                                                       : std::nullopt;
  default:
    return std::nullopt;
  }
}

void UseFinder::addContraction(const Op &op, size_t operand) {
  const DimSet &other = getDims(op.operands[1 - operand]), &result = getDims(op.results[0]);
  const View &view = views.at(op.operands[operand]);
  Use use{view.selected, {}, {}, op.loc};
  for (auto [dim, origin] : view.origins)
    (!result.contains(dim) ? use.inputs
     : other.contains(dim) ? use.batch
                           : use.outputs)
        .insert(origin);
  uses.push_back(std::move(use));
}

/// The roles in one use if the dimensions `batch` are those of a batch.
MatrixRoles UseFinder::getRoles(const Use &use, const std::set<DimId> &batch) const {
  MatrixRoles roles;
  for (DimId dim : model.parameters[parameter].type.dims)
    (batch.count(dim)         ? roles.batch
     : use.outputs.count(dim) ? roles.matrix.outputs
                              : roles.matrix.inputs)
        .insert(dim);
  return roles;
}

/// `this contraction sums "embed", keeps "ffn" and has a matrix for each element of "experts"`.
std::string UseFinder::describe(const Use &use) const {
  auto list = [&](const std::set<DimId> &dims) {
    std::string text;
    for (DimId dim : model.parameters[parameter].type.dims)
      if (dims.count(dim))
        text += (text.empty() ? "`" : ", `") + model.dims[dim].name + "`";
    return text.empty() ? "nothing" : text;
  };
  return "this contraction sums " + list(use.inputs) +
         (use.batch.empty() ? " and keeps " : ", keeps ") + list(use.outputs) +
         (use.batch.empty() ? "" : " and has a matrix for each element of " + list(use.batch));
}

MatrixUses UseFinder::combine() const {
  if (other)
    return {{}, {{*other, "this use of the parameter is no contraction"}}};
  std::set<DimId> batch;
  for (const Use &use : uses)
    batch.insert(use.batch.begin(), use.batch.end());
  auto refuse = [&](const Use &use, auto &&isOther) {
    MatrixUses refused{{}, {{use.loc, describe(use)}}};
    if (auto found = std::find_if(uses.begin(), uses.end(), isOther); found != uses.end())
      refused.obstacles.push_back({found->loc, describe(*found)});
    return refused;
  };
  MatrixUses found;
  for (const Use &use : uses) {
    MatrixRoles roles = getRoles(use, batch);
    if (roles.matrix.outputs.empty() || roles.matrix.inputs.empty())
      return refuse(use, [&](const Use &one) {
        return !std::includes(use.batch.begin(), use.batch.end(), one.batch.begin(),
                              one.batch.end());
      });
    if (found.roles && found.roles->matrix != roles.matrix)
      return refuse(uses.front(), [&](const Use &one) { return &one == &use; });
    found.roles = std::move(roles);
  }
  return found;
}

} // namespace

MatrixUses findMatrixUses(const Model &model, uint32_t parameter) {
  return UseFinder(model, parameter).combine();
}

} // namespace titan::sema
