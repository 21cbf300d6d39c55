// The settings of a run.
//
// The module has the settings of its run as `titan.run`. The phase pipelines alone read them, and
// translate them into options of passes. A pass reads its own options only.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace titan {

/// The settings of one run, by path.
class RunSettings {
public:
  /// No settings: every option has its default.
  RunSettings() = default;
  explicit RunSettings(mlir::ModuleOp module);

  /// The value of the setting `path`; `fallback`, or an empty list, if the run does not have the
  /// setting or its value has another type.
  std::string getString(llvm::StringRef path, llvm::StringRef fallback) const;
  int64_t getInteger(llvm::StringRef path, int64_t fallback) const;
  std::vector<int64_t> getIntegers(llvm::StringRef path) const;
  std::vector<std::string> getStrings(llvm::StringRef path) const;
  /// Replaces a setting for the pipelines; the module keeps its own.
  void setInteger(llvm::StringRef path, int64_t value, mlir::MLIRContext *context);

private:
  template <typename AttrT> AttrT get(llvm::StringRef path) const;

  mlir::DictionaryAttr run;
};

} // namespace titan
