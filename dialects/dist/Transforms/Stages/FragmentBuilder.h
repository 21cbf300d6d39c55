// Moves a program into fragments.
#pragma once

#include "dialects/dist/Transforms/Stages/FragmentPlan.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace titan::dist {

/// Builds the fragments of one program by a plan. The operations are cloned; the program itself
/// stays.
class FragmentBuilder {
public:
  FragmentBuilder(mlir::func::FuncOp program, ir::RepeatOp loop, const FragmentPlan &plan);

  /// Creates all fragments before the program in the module. Fails with an error where a value
  /// cannot cross fragments.
  mlir::LogicalResult run();
  /// The fragments in execution order.
  llvm::SmallVector<mlir::func::FuncOp> getFragments() const;
  size_t getNumStashed() const { return numStashed; }
  size_t getNumStepValues() const { return numStepValues; }

private:
  struct Fragment {
    FragmentKey key;
    mlir::func::FuncOp function;
    mlir::IRMapping mapping;
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes = {}, resultAttributes = {};
  };

  Fragment &getFragment(FragmentKey key);
  mlir::LogicalResult addOperation(mlir::Operation *op);
  mlir::LogicalResult copyInto(Fragment &fragment, mlir::Operation *op);
  /// Makes `value` available in `fragment`: an argument, a clone, or an import.
  mlir::LogicalResult require(Fragment &fragment, mlir::Value value);
  mlir::LogicalResult requireArgument(Fragment &fragment, mlir::BlockArgument argument);
  mlir::LogicalResult requireLoopArgument(Fragment &fragment, mlir::BlockArgument argument);
  mlir::Value addArgument(Fragment &fragment, mlir::Value value, mlir::DictionaryAttr attributes);
  void addResult(Fragment &fragment, mlir::Value value, mlir::DictionaryAttr attributes);
  mlir::LogicalResult import(Fragment &fragment, FragmentKey from, mlir::Value value);
  mlir::LogicalResult addSums();
  mlir::LogicalResult addReturned();
  mlir::LogicalResult returnFrom(FragmentKey key, unsigned index);
  std::string getSumName(unsigned index);
  std::string pickName(mlir::Value value);
  mlir::DictionaryAttr getRole(llvm::StringRef role, llvm::StringRef name);
  /// Adds the return, sets the function's type and inserts the function before the program.
  void finish(Fragment &fragment);

  mlir::func::FuncOp program;
  ir::RepeatOp loop;
  const FragmentPlan &plan;
  mlir::OpBuilder builder;
  std::map<FragmentKey, Fragment, ExecutionOrder> fragments;
  /// The names of exported values, by value: each value has one producer.
  llvm::DenseMap<mlir::Value, mlir::StringAttr> exported;
  std::map<unsigned, std::string> sumNames;
  llvm::StringMap<int64_t> names; ///< with the last number after each
  size_t numStashed = 0, numStepValues = 0;
};

} // namespace titan::dist
