// Index spaces and loops over them.

#include "compiler/emission/Loops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan::emission;

Access titan::emission::makeAccess(std::string pointer, llvm::ArrayRef<IndexDim> dims) {
  Access access{std::move(pointer), {}};
  SizeExpr stride;
  for (const IndexDim &dim : llvm::reverse(dims)) {
    access.strides[dim.key] = stride;
    stride = dim.size * stride;
  }
  return access;
}

/// Whether `outer` and `inner` are contiguous in every access.
static bool canMerge(llvm::StringRef outer, const IndexDim &inner,
                     llvm::ArrayRef<const Access *> accesses) {
  return llvm::all_of(accesses, [&](const Access *access) {
    auto a = access->strides.find(outer), b = access->strides.find(inner.key);
    bool hasOuter = a != access->strides.end(), hasInner = b != access->strides.end();
    return hasOuter == hasInner && (!hasOuter || a->second == inner.size * b->second);
  });
}

llvm::SmallVector<Loop> titan::emission::makeLoops(llvm::ArrayRef<IndexDim> space,
                                                   llvm::ArrayRef<const Access *> accesses) {
  llvm::SmallVector<Loop> loops;
  for (const IndexDim &dim : space) {
    if (dim.size.isOne())
      continue;
    if (!loops.empty() && canMerge(loops.back().getKey(), dim, accesses)) {
      loops.back().keys.push_back(dim.key);
      loops.back().size = loops.back().size * dim.size;
    } else {
      loops.push_back({{dim.key}, dim.size, ""});
    }
  }
  return loops;
}

std::string titan::emission::getOffset(const Access &access, llvm::ArrayRef<Loop> loops) {
  std::string offset;
  for (const Loop &loop : loops) {
    auto stride = access.strides.find(loop.getKey());
    if (stride != access.strides.end())
      offset += (offset.empty() ? "" : " + ") + scale(loop.variable, stride->second);
  }
  return offset.empty() ? "0" : offset;
}

/// A sum without zero terms.
static std::string add(const std::string &a, const std::string &b) {
  if (a.empty() || a == "0")
    return b;
  return b == "0" ? a : a + " + " + b;
}

void titan::emission::advance(Access &access, const std::string &offset) {
  access.pointer =
      access.isIndex ? add(access.pointer, offset) : "(" + access.pointer + " + " + offset + ")";
}

std::string titan::emission::getElementAt(const Access &access, const std::string &offset) {
  if (!access.isIndex)
    return access.pointer + "[" + offset + "]";
  std::string sum = add(offset, access.pointer.empty() ? "0" : access.pointer);
  if (!access.offsetToIndex.empty())
    return access.offsetToIndex + "(" + sum + ")";
  if (llvm::none_of(sum, llvm::isAlpha)) // a literal alone would be an int
    return "int64_t(" + sum + ")";
  return sum.find(' ') == std::string::npos ? sum : "(" + sum + ")";
}

std::string titan::emission::getElement(const Access &access, llvm::ArrayRef<Loop> loops) {
  return getElementAt(access, getOffset(access, loops));
}

std::string titan::emission::getLoadedAt(const Access &access, const std::string &offset) {
  std::string element = getElementAt(access, offset);
  return access.isNarrow ? "float(" + element + ")" : element;
}

std::string titan::emission::getLoaded(const Access &access, llvm::ArrayRef<Loop> loops) {
  return getLoadedAt(access, getOffset(access, loops));
}
