//===- Names.cpp - Identifiers from source names --------------------------===//

#include "compiler/emission/Names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan;

std::string emission::makeIdentifier(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  return text;
}

std::string emission::quote(llvm::StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// Words of C++, and names that every emitted function uses.
static constexpr llvm::StringLiteral kTaken =
    "alignas alignof and asm auto bool break case catch char class const constexpr continue "
    "default "
    "delete do double else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new not operator or private protected public register requires return "
    "short signed sizeof static struct switch template this throw true try typedef typename union "
    "unsigned using virtual void volatile while xor "
    "ctx row i j k m n p l l1 l2 l3 index tm std titan run main mesh over persistent transient "
    "gemm "
    "attention attentionGrad allGather allReduce reduceScatter allToAll from to first second "
    "cosine sine cosines sines total width at bf16";

emission::NameScope::NameScope() {
  llvm::SmallVector<llvm::StringRef> words;
  kTaken.split(words, ' ');
  for (llvm::StringRef word : words)
    taken.insert(word);
}

std::string emission::NameScope::pick(llvm::StringRef name) {
  std::string base = makeIdentifier(name), candidate = base;
  for (int i = 1; !taken.insert(candidate).second; ++i)
    candidate = base + "_" + std::to_string(i);
  return candidate;
}
