// Lowers the live operations of one function or body, one to one.
#pragma once

#include "compiler/lowering/Translation.h"
#include "compiler/sema/program/Reachability.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace titan::lowering {

/// The names of scalars of programs; the runtime and the interpreter set them.
inline constexpr llvm::StringLiteral kSeed = "seed", kStep = "step", kSample = "sample";

class OpLowering {
public:
  OpLowering(const Translation &translation, const sema::Model &model,
             const sema::Reachability &needs, mlir::OpBuilder &builder)
      : translation(translation), model(model), needs(needs), builder(builder) {}

  /// The function's arguments for inputs and parameters, by index.
  llvm::DenseMap<uint32_t, mlir::Value> inputs, parameters;
  /// The next values of buffers lowered so far, by index.
  llvm::DenseMap<uint32_t, mlir::Value> updates;
  /// The arguments that are the seed, the number of the training step, and the number of the sample
  /// whose outputs are computed, as far as the program has them.
  llvm::StringMap<mlir::Value> scalars;
  /// Whether the program trains. In others, dropout is inactive.
  bool isTraining = false;
  /// Whether operations get `titan.blocks`, the names of their enclosing blocks.
  bool marksBlocks = false;

  void lower(const sema::Region &region);
  mlir::Value operator[](sema::ValueId id) const { return values.lookup(id); }
  /// Transposes the value to the dimension order of `type`.
  mlir::Value reorderDims(mlir::Value value, ir::NamedTensorType type, mlir::Location loc);
  /// Puts a sharding constraint named `name` on the value, with the dimensions in the order of
  /// `type`. An existing constraint is reused if the names agree or `name` is empty.
  mlir::Value constrain(mlir::Value value, ir::NamedTensorType type, mlir::Location loc,
                        llvm::StringRef name);

private:
  void lower(const sema::Op &op);
  /// Lowers without `titan.blocks`.
  void lowerUnmarked(const sema::Op &op);
  mlir::Value lowerSingleResult(const sema::Op &op, mlir::Location loc, ir::NamedTensorType type);
  mlir::Value lowerUnary(const sema::Op &op, mlir::Value x, mlir::Location loc,
                         ir::NamedTensorType type);
  mlir::Value lowerElementwise(const sema::Op &op, mlir::Location loc, ir::NamedTensorType type);
  mlir::Value lowerRotary(const sema::Op &op, mlir::Location loc, ir::NamedTensorType type);
  mlir::Value lowerCount(const sema::Op &op, mlir::Value x, mlir::Location loc,
                         ir::NamedTensorType type);
  mlir::Value lowerScatter(const sema::Op &op, mlir::Location loc, ir::NamedTensorType type);
  mlir::Value lowerRandom(ir::RandomKind kind, const sema::Op &op, mlir::Location loc,
                          ir::NamedTensorType type);
  mlir::Value lowerDropout(const sema::Op &op, mlir::Location loc, ir::NamedTensorType type);
  mlir::Operation *lowerMultiResult(const sema::Op &op, mlir::Location loc);
  void lowerRepeat(const sema::Op &op, mlir::Location loc);
  /// Gives a repeat of the function its `titan.first_layer`, if there are others over its
  /// dimension.
  void markFirstLayer(const sema::Op &op, ir::RepeatOp repeat);
  /// For each parameter, the variants of a repeat that scan it.
  using VariantsByParameter = llvm::MapVector<uint32_t, llvm::SmallVector<int64_t>>;
  VariantsByParameter findScannedParameters(llvm::ArrayRef<sema::Region> bodies,
                                            size_t depth = 0) const;
  /// The subset that consists of buffers with an update; the repeat stacks their next values.
  VariantsByParameter findUpdatedParameters(const VariantsByParameter &scanned) const;
  void lowerBody(mlir::Region &region, const sema::Region &body, llvm::ArrayRef<mlir::Value> inits,
                 const VariantsByParameter &scanned, const VariantsByParameter &updated,
                 mlir::Location loc);
  mlir::Value getOperand(const sema::Op &op, size_t i) const {
    return values.lookup(op.operands[i]);
  }

  const Translation &translation;
  const sema::Model &model;
  const sema::Reachability &needs;
  mlir::OpBuilder &builder;
  llvm::DenseMap<sema::ValueId, mlir::Value> values;
  llvm::SmallVector<mlir::Value> indices;  ///< of the enclosing repeats, the outermost first
  llvm::StringMap<unsigned> randomStreams; ///< the number of streams per name
};

} // namespace titan::lowering
