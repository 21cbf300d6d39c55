#include "TokenInput.h"

#include "base/Error.h"

#include <fmt/format.h>

namespace titan::rt {

namespace {

bool isFloat(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::BF16;
}

} // namespace

std::vector<TokenInput> tokenInputs(const std::vector<InputSpec> &inputs, int64_t sequence,
                                    const std::string &path) {
  std::vector<TokenInput> found;
  for (const InputSpec &input : inputs) {
    const std::optional<Feed> feed = findFeed(input.name);
    const bool hasType =
        feed == Feed::Weights ? isFloat(input.type) : feed && input.type == DType::I64;
    if (!hasType || input.shape != std::vector{sequence})
      throw UserError(fmt::format("'{}' is read as tokens, which have no input '{}'; --set "
                                  "data.format=arrays (for eval, eval.data.format) reads arrays",
                                  path, input.name));
    found.push_back({*feed, input.type});
  }
  return found;
}

} // namespace titan::rt
