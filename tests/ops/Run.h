//===- Run.h - A case interpreted on the ranks of a mesh --------*- C++ -*-===//

#ifndef TITAN_TESTS_OPS_RUN_H
#define TITAN_TESTS_OPS_RUN_H

#include "compiler/interpreter/RankMesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/ops/Case.h"

namespace titan::ops {

/// The results of a function that takes the case's operands, computed on all ranks of the mesh and
/// assembled.
mlir::FailureOr<std::vector<ir::HostTensor>> run(mlir::func::FuncOp function,
                                                 const interpreter::RankMesh &mesh, const Case &c);

/// Whether they are what one rank computes, to 1e-12.
mlir::LogicalResult compare(mlir::func::FuncOp function, const std::vector<ir::HostTensor> &results,
                            const std::vector<ir::HostTensor> &expected);

bool isFinite(const std::vector<ir::HostTensor> &tensors);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_RUN_H
