#include "Data.h"

#include "titan/runtime/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

void checkVocabulary(const TokenStream &stream, const std::string &path, int64_t vocabulary) {
  if (stream.vocabulary() <= vocabulary)
    return;
  std::vector<int64_t> part(1 << 16);
  for (int64_t at = 0; at < stream.size(); at += static_cast<int64_t>(part.size())) {
    int64_t count = std::min<int64_t>(part.size(), stream.size() - at);
    stream.read(at, count, part.data());
    for (int64_t i = 0; i < count; ++i)
      if (part[i] >= vocabulary)
        throw UserError(fmt::format("'{}' holds the token {} at position {}, but the model's "
                                    "vocabulary has {} tokens",
                                    path, part[i], at + i, vocabulary));
  }
}

} // namespace

DataSource openData(const Program &program, const std::string &path, uint64_t seed, bool shuffle) {
  auto stream = openTextBytes(path);
  checkVocabulary(*stream, path, program.vocab);
  return DataSource(std::move(stream), path, program.seq, seed, shuffle);
}

} // namespace titan::rt
