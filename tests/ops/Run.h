// Interprets a case on the ranks of a mesh.
#pragma once

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/ops/Case.h"

namespace titan::ops {

/// Runs a function of the case's operands on all ranks and assembles the results.
mlir::FailureOr<std::vector<ir::HostTensor>> run(mlir::func::FuncOp function,
                                                 const interpreter::RankMesh &mesh, const Case &c);

/// Compares the results with those of one rank, to 1e-12.
mlir::LogicalResult compare(mlir::func::FuncOp function, const std::vector<ir::HostTensor> &results,
                            const std::vector<ir::HostTensor> &expected);

bool isFinite(const std::vector<ir::HostTensor> &tensors);

} // namespace titan::ops
