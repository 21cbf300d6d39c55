// `titanc info`: the matrices of optimizers of matrices.
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {
namespace {

using sema::DimId;
using Names = std::vector<std::string>;

/// The dimensions of a parameter by their roles, as names.
struct NamedRoles {
  std::string optimizer;
  Names batch, rows, columns; ///< the batch includes the repeats around the parameter
};

Names getNames(const sema::Model &model, llvm::ArrayRef<DimId> dims) {
  Names names;
  for (DimId dim : dims)
    names.push_back(model.dims[dim].name);
  return names;
}

std::optional<NamedRoles> findRoles(const sema::CheckedRun &run, size_t parameter) {
  const sema::Updates &updates = run.updates;
  if (parameter >= updates.matricesOf.size() || !updates.matricesOf[parameter])
    return std::nullopt;
  auto names = [&](const sema::DimSet &dims) {
    return getNames(run.train, std::vector<DimId>(dims.begin(), dims.end()));
  };
  const sema::MatrixRoles &roles = *updates.matricesOf[parameter];
  NamedRoles named{updates.functions[*updates.functionOf[parameter]].model.name,
                   getNames(run.train, run.train.parameters[parameter].repeats),
                   names(roles.matrix.outputs), names(roles.matrix.inputs)};
  llvm::append_range(named.batch, names(roles.batch));
  return named;
}

/// `embed`, `(heads, head)`.
std::string printSide(const Names &names) {
  return names.size() == 1 ? names.front() : "(" + llvm::join(names, ", ") + ")";
}

} // namespace

void printMatrices(llvm::raw_ostream &out, const sema::CheckedRun &run) {
  using Side = TextTable::Side;
  TextTable table({Side::Left, Side::Left, Side::Left, Side::Left});
  bool isEmpty = true;
  for (auto [i, parameter] : llvm::enumerate(run.train.parameters))
    if (std::optional<NamedRoles> roles = findRoles(run, i)) {
      isEmpty = false;
      table.add(
          {makePublicName(parameter), roles->optimizer,
           printSide(roles->rows) + " x " + printSide(roles->columns),
           roles->batch.empty() ? "" : "for each element of " + llvm::join(roles->batch, ", ")});
    }
  if (isEmpty)
    return;
  out << "\nmatrices, as their optimizers see them, rows x columns:\n";
  table.print(out);
}

std::optional<llvm::json::Object> matrixJson(const sema::CheckedRun &run, size_t parameter) {
  std::optional<NamedRoles> roles = findRoles(run, parameter);
  if (!roles)
    return std::nullopt;
  return llvm::json::Object{{"optimizer", roles->optimizer},
                            {"batch_dims", llvm::json::Array(roles->batch)},
                            {"rows", llvm::json::Array(roles->rows)},
                            {"columns", llvm::json::Array(roles->columns)}};
}

} // namespace titan::driver
