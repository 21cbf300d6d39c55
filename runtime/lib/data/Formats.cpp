// Opens a file of tokens by its format (openTokens of TokenStream.h).
#include "TokenStream.h"
#include "base/Error.h"
#include "base/data/TokenIndex.h"

#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

/// Refuses token files as text: their bytes would train without an error and without use.
void refuseTokensAsText(const std::string &path) {
  const std::string prefix = tokenFilePrefix(path);
  if (prefix != path && fs::exists(prefix + ".idx") && fs::exists(prefix + ".bin"))
    throw UserError(fmt::format("'{}' is not a text file: '{}.idx' lists the tokens of '{}.bin'. "
                                "--set data.format=indexed (for eval, eval.data.format) reads them",
                                path, prefix, prefix));
}

void refuseTextAsTokens(const std::string &path) {
  const std::string tokens = tokenFilePrefix(path) + ".bin";
  if (fs::is_regular_file(path) && !fs::exists(tokens))
    throw UserError(
        fmt::format("'{}' is not an indexed file: there is no '{}'. --set data.format=text (for "
                    "eval, eval.data.format) reads its bytes as tokens",
                    path, tokens));
}

} // namespace

std::unique_ptr<TokenStream> openTokens(const std::string &format, const std::string &path) {
  if (format == "text") {
    refuseTokensAsText(path);
    return openTextBytes(path);
  }
  if (format == "indexed") {
    refuseTextAsTokens(path);
    return openIndexedTokens(path);
  }
  throw UserError("data cannot be read as '" + format + "'");
}

} // namespace titan::rt
