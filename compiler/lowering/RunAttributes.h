// The operations and attributes in which a module states its run: the mesh, the axis rules, the
// settings, and the roles of arguments.
#pragma once

#include "compiler/lowering/Translation.h"
#include "compiler/sema/check/Check.h"

#include "mlir/IR/BuiltinOps.h"

namespace titan::lowering {

/// Creates `dist.mesh` and one `dist.axis_rules` per axis at the builder's insertion point.
void addMesh(const sema::CheckedRun &run, mlir::OpBuilder &builder, const Translation &translation);

/// Sets titan.run, titan.run_name, titan.model, titan.fingerprint, titan.source, titan.sizes and
/// titan.data_dims; titan.absent_inputs, titan.weights and titan.config if the program has them.
void setRunAttributes(const sema::CheckedRun &run, const SourceManager &sources,
                      mlir::ModuleOp module);

/// titan.input and, for integers of arrays and weights of labels, titan.drawn_below.
mlir::DictionaryAttr makeInputAttributes(const sema::CheckedRun &run, const sema::Input &input,
                                         mlir::OpBuilder &builder);

/// Sets titan.clip, titan.clip_value and titan.skip_nonfinite of the training function.
void addStepAttributes(const sema::Run &run, mlir::OpBuilder &builder, mlir::Operation *train);

/// The attribute titan.precision of a program function.
ir::PrecisionAttr makePrecisionAttribute(const sema::Run &run, const Translation &translation,
                                         mlir::MLIRContext *context);

/// Adds the attributes by which groups determine the update of one parameter, besides its
/// optimizer.
void addGroupAttributes(const sema::Run &run, const sema::Parameter &parameter,
                        mlir::OpBuilder &builder,
                        llvm::SmallVectorImpl<mlir::NamedAttribute> &role);
/// Adds the losses and the period of a trained parameter, if groups set them.
void addTurnAttributes(const sema::Run &run, const sema::Model &model,
                       const sema::Parameter &parameter, mlir::OpBuilder &builder,
                       llvm::SmallVectorImpl<mlir::NamedAttribute> &role);

} // namespace titan::lowering
