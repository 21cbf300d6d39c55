//===- Names.cpp - Identifiers from source names --------------------------===//

#include "compiler/emission/Names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace titan;

/// The keywords of C++20 and its other spellings of operators ([lex.key]).
static constexpr llvm::StringLiteral kKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq";

/// Names that every emitted function uses.
static constexpr llvm::StringLiteral kTaken =
    "ctx row i j k m n p l l1 l2 l3 index tm std titan run main mesh over persistent transient "
    "gemm attention attentionGrad allGather allReduce reduceScatter allToAll from to first second "
    "cosine sine cosines sines total width at bf16";

static llvm::SmallVector<llvm::StringRef> getWords(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  return words;
}

std::string emission::makeIdentifier(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  static const llvm::StringSet<> keywords = [] {
    llvm::StringSet<> set;
    for (llvm::StringRef word : getWords(kKeywords))
      set.insert(word);
    return set;
  }();
  return keywords.contains(text) ? text + "_" : text;
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

emission::NameScope::NameScope() {
  for (llvm::StringRef word : getWords(kTaken))
    taken.insert(word);
}

std::string emission::NameScope::pick(llvm::StringRef name) {
  std::string base = makeIdentifier(name), candidate = base;
  for (int i = 1; !taken.insert(candidate).second; ++i)
    candidate = base + "_" + std::to_string(i);
  return candidate;
}
