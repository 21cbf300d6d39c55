// Insertion of a pass into the text of a pipeline.

#include "compiler/pipelines/PipelineText.h"

#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace titan::pipelines {
namespace {

/// An occurrence of a pass: the text of the pass with its options, and of the nest around it.
struct Occurrence {
  size_t begin, end;
  std::optional<size_t> nest; ///< where the name of the nest begins
};

/// Finds all occurrences of a pass. Options in braces are no passes.
class Scanner {
public:
  Scanner(StringRef pipeline, StringRef name) : text(pipeline), name(name) {}

  llvm::SmallVector<Occurrence> scan() {
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] == '{') {
        i = findEndOfOptions(i) - 1;
      } else if (i == text.size() || StringRef("(),").contains(text[i])) {
        add(begin, i);
        if (i < text.size() && text[i] == '(')
          nests.push_back(begin);
        else if (i < text.size() && text[i] == ')' && !nests.empty())
          nests.pop_back();
        begin = i + 1;
      }
    }
    return found;
  }

private:
  /// The position behind the brace that closes the one at `open`.
  size_t findEndOfOptions(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      if (depth == 0)
        return i + 1;
    }
    return text.size();
  }

  void add(size_t begin, size_t end) {
    if (text.slice(begin, end).split('{').first.trim() == name)
      found.push_back({begin, end, nests.empty() ? std::nullopt : std::optional(nests.back())});
  }

  StringRef text, name;
  llvm::SmallVector<size_t> nests;
  llvm::SmallVector<Occurrence> found;
};

/// Divides the nest around the neighbour, and puts the pass between the halves.
std::string divideNest(StringRef text, const Occurrence &neighbour,
                       const TextInsertion &insertion) {
  const StringRef nest = text.slice(*neighbour.nest, text.find('(', *neighbour.nest));
  const StringRef before = text.take_front(insertion.isBefore ? neighbour.begin : neighbour.end);
  const StringRef after = text.drop_front(before.size());
  std::string result;
  if (before.ends_with("("))
    result = text.take_front(*neighbour.nest).str() + insertion.pass.str();
  else
    result = before.rtrim(',').str() + ")," + insertion.pass.str();
  if (after.starts_with(")"))
    return result + after.drop_front().str();
  return result + "," + nest.str() + "(" + after.ltrim(',').str();
}

} // namespace

unsigned countPasses(StringRef pipeline, StringRef name) {
  return Scanner(pipeline, name).scan().size();
}

bool isNested(StringRef pipeline, StringRef name) {
  const auto found = Scanner(pipeline, name).scan();
  return !found.empty() && found.front().nest;
}

std::optional<std::string> insertPass(StringRef pipeline, const TextInsertion &insertion) {
  const auto found = Scanner(pipeline, insertion.neighbour).scan();
  if (found.empty())
    return std::nullopt;
  const Occurrence &neighbour = found.front();
  if (insertion.leavesNest && neighbour.nest)
    return divideNest(pipeline, neighbour, insertion);
  const size_t at = insertion.isBefore ? neighbour.begin : neighbour.end;
  const std::string pass =
      insertion.isBefore ? insertion.pass.str() + "," : "," + insertion.pass.str();
  return pipeline.take_front(at).str() + pass + pipeline.drop_front(at).str();
}

} // namespace titan::pipelines
