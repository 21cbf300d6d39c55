#include "Prompts.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

std::string readPrompt(const std::string &line, const std::string &where) {
  const nlohmann::json record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object() || !record.contains("prompt") || !record["prompt"].is_string())
    throw UserError(where + ": expected a JSON object with the string `prompt`");
  return record["prompt"];
}

void refuseBlankLines(const std::vector<std::string> &lines, const std::string &path) {
  if (const auto blank = std::ranges::find(lines, ""); blank != lines.end())
    throw UserError(
        fmt::format("{}:{}: the line is blank, so it has no prompt: remove it, or write "
                    "the prompts as objects with `prompt` in a .jsonl file",
                    path, blank - lines.begin() + 1));
}

} // namespace

std::vector<std::string> readPrompts(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw UserError(fmt::format("cannot read --prompts {}: {}", path, std::strerror(errno)));
  const bool isJson = path.ends_with(".jsonl");
  std::vector<std::string> prompts;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (isJson && line.empty())
      continue;
    prompts.push_back(isJson ? readPrompt(line, fmt::format("{}:{}", path, number)) : line);
  }
  if (file.bad())
    throw UserError(fmt::format("cannot read --prompts {}: {}", path, std::strerror(errno)));
  while (!prompts.empty() && prompts.back().empty() && !isJson)
    prompts.pop_back();
  if (!isJson)
    refuseBlankLines(prompts, path);
  if (prompts.empty())
    throw UserError(fmt::format("--prompts {} has no prompt", path));
  return prompts;
}

} // namespace titan::rt
