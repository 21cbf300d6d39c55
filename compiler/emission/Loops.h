//===- Loops.h - Index spaces and what walks them ---------------*- C++ -*-===//
//
// An index space is a list of named dimensions; tensors are accessed in it by a stride per
// dimension they have. Neighbouring dimensions that every access walks as one are merged, so that
// most loop nests become one or two long loops. Plain data, without IR.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_LOOPS_H
#define TITAN_COMPILER_EMISSION_LOOPS_H

#include "compiler/emission/SizeExpr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace titan::emission {

/// How a tensor is addressed: a pointer and a stride for each of its dimensions, by name.
struct Access {
  std::string pointer;
  llvm::StringMap<SizeExpr> strides;
  bool isNarrow = false; ///< elements are bf16: computed with as float, rounded by a store
  /// No memory: an element is its own offset, counted from `pointer`, a number (empty: 0).
  bool isIndex = false;
};

/// A dimension of an index space.
struct Index {
  std::string key;
  SizeExpr size;
};

/// A loop over merged dimensions. The strides of an access along it are those of the last key.
struct Loop {
  llvm::SmallVector<std::string> keys; ///< outer to inner
  SizeExpr size;
  std::string variable;
  llvm::StringRef getKey() const { return keys.back(); }
};

/// The row-major access of a tensor with these dimensions.
Access makeAccess(std::string pointer, llvm::ArrayRef<Index> dims);

/// Loops over `space`, outer to inner, merged where all accesses allow it. Dimensions of size 1 are
/// dropped. Variables are left empty.
llvm::SmallVector<Loop> makeLoops(llvm::ArrayRef<Index> space,
                                  llvm::ArrayRef<const Access *> accesses);

/// The access that starts `offset`, an expression, further on.
void advance(Access &access, const std::string &offset);

/// `a + b * stride + ...` of the loops that the access has; `0` where it has none.
std::string getOffset(const Access &access, llvm::ArrayRef<Loop> loops);

/// `pointer[offset]`, or the offset itself where the access has no memory.
std::string getElementAt(const Access &access, const std::string &offset);
std::string getElement(const Access &access, llvm::ArrayRef<Loop> loops);
/// The element as a number to compute with: `float(pointer[offset])` of narrow ones.
std::string getLoadedAt(const Access &access, const std::string &offset);
std::string getLoaded(const Access &access, llvm::ArrayRef<Loop> loops);

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_LOOPS_H
