// Index spaces and loops over them.
//
// An index space is a list of named dimensions. A tensor is accessed in it by one stride for each
// of its dimensions. Neighbouring dimensions that are contiguous in every access are merged, so
// most loop nests become one or two long loops. Plain data, without IR.
#pragma once

#include "compiler/emission/SizeExpr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace titan::emission {

/// The address of a tensor element: a pointer and a stride for each dimension, by name.
struct Access {
  std::string pointer;
  llvm::StringMap<SizeExpr> strides;
  bool isNarrow = false; ///< elements are bf16: computed as float, rounded by a store
  /// The access of an index table, which has no memory: an element equals its offset plus
  /// `pointer`, which is then an integer expression (empty: 0).
  bool isIndex = false;
  std::string offsetToIndex =
      {}; ///< of an index table: a function to apply to this sum; empty: none
};

/// A dimension of an index space.
struct IndexDim {
  std::string key; ///< its name
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
Access makeAccess(std::string pointer, llvm::ArrayRef<IndexDim> dims);

/// Loops over `space`, outer to inner, merged if all accesses allow it. Dimensions of size 1 are
/// dropped. Variables are empty.
llvm::SmallVector<Loop> makeLoops(llvm::ArrayRef<IndexDim> space,
                                  llvm::ArrayRef<const Access *> accesses);

/// Adds `offset`, an expression, to the access.
void advance(Access &access, const std::string &offset);

/// `a + b * stride + ...` for the loops of the access; `0` without any.
std::string getOffset(const Access &access, llvm::ArrayRef<Loop> loops);

/// `pointer[offset]`, or the offset itself if the access has no memory.
std::string getElementAt(const Access &access, const std::string &offset);
std::string getElement(const Access &access, llvm::ArrayRef<Loop> loops);
/// The element as an operand: `float(pointer[offset])` for narrow ones.
std::string getLoadedAt(const Access &access, const std::string &offset);
std::string getLoaded(const Access &access, llvm::ArrayRef<Loop> loops);

} // namespace titan::emission
