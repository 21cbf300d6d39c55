#include "Tokenizer.h"

#include "base/Error.h"
#include "launch/HelperProcess.h"
#include "weights/TokenizerFiles.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

/// A token is a byte of the text.
class Bytes : public Tokenizer {
public:
  explicit Bytes(int64_t vocabulary) : vocabulary(vocabulary) {}

  std::vector<int64_t> encode(const std::string &prompt) override {
    std::vector<int64_t> tokens;
    for (unsigned char byte : prompt) {
      if (byte >= vocabulary)
        throw UserError(
            fmt::format("--prompt has the byte {}, but the largest token of the model is {}", byte,
                        vocabulary - 1));
      tokens.push_back(byte);
    }
    if (tokens.empty())
      throw UserError("generate needs a prompt of at least one byte: pass --prompt TEXT");
    return tokens;
  }
  std::string next(int64_t /*text*/, int64_t token) override {
    return token < 256 ? std::string(1, static_cast<char>(token)) : "\uFFFD"; // not a byte
  }

private:
  int64_t vocabulary;
};

/// A text is a list of the tokens' numbers.
class Numbers : public Tokenizer {
public:
  explicit Numbers(int64_t vocabulary) : vocabulary(vocabulary) {}

  std::vector<int64_t> encode(const std::string &prompt) override {
    std::vector<int64_t> tokens;
    std::istringstream words(prompt);
    for (std::string word; words >> word;)
      tokens.push_back(read(word));
    if (tokens.empty())
      throw UserError("generate needs a prompt of at least one token: pass --prompt 'NUMBER ...'");
    return tokens;
  }
  bool writesText() const override { return false; }
  std::string next(int64_t /*text*/, int64_t token) override { return fmt::format(" {}", token); }

private:
  int64_t read(const std::string &word) const {
    int64_t token = -1;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || end != word.data() + word.size() || token < 0 ||
        token >= vocabulary)
      throw UserError(fmt::format("--prompt takes token ids from 0 to {}, as in the data, not '{}'",
                                  vocabulary - 1, word));
    return token;
  }

  int64_t vocabulary;
};

/// Tokenizers of files read characters, not bytes.
void requireUtf8(const std::string &prompt) {
  try {
    nlohmann::json(prompt).dump();
  } catch (const nlohmann::json::type_error &) {
    throw UserError("the prompt is not valid UTF-8, which the tokenizer reads: convert it, such as "
                    "by `iconv -t UTF-8`");
  }
}

/// A file's tokenizer: `titan-prepare --serve FILE`, whose protocol is JSON lines
/// (titan_prepare/serve.py).
class Served : public Tokenizer {
public:
  Served(const std::string &path, bool chat, int64_t vocabulary)
      : path(path), chat(chat), vocabulary(vocabulary),
        helper({findTool("titan-prepare", "TITAN_PREPARE"), "--serve", path}) {
    greeting = check(helper.read());
  }

  std::vector<int64_t> encode(const std::string &prompt) override {
    requireUtf8(prompt);
    const auto tokens =
        get<std::vector<int64_t>>(ask({{chat ? "chat" : "encode", prompt}}), "tokens");
    if (tokens.empty())
      throw UserError("generate needs a prompt of at least one token: pass --prompt TEXT");
    for (int64_t token : tokens)
      if (token < 0 || token >= vocabulary)
        throw UserError(fmt::format(
            "the tokenizer '{}' returns the token {}, but the largest token of the model is {}",
            path, token, vocabulary - 1));
    return tokens;
  }
  std::vector<int64_t> ends() const override { return get<std::vector<int64_t>>(greeting, "ends"); }

  void begin(int64_t text, const std::vector<int64_t> &prompt) override {
    ask({{"begin", prompt}, {"text", text}});
  }
  std::string next(int64_t text, int64_t token) override {
    if (token >= get<int64_t>(greeting, "vocabulary")) // the model's vocabulary is padded
      return "";
    return get<std::string>(ask({{"token", token}, {"text", text}}), "text");
  }
  std::string finish(int64_t text) override {
    return get<std::string>(ask({{"finish", true}, {"text", text}}), "text");
  }

private:
  nlohmann::json ask(const nlohmann::json &request) {
    return check(helper.ask(request.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  }

  nlohmann::json check(const std::string &line) const {
    nlohmann::json answer = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object())
      throw Fault(fmt::format("the tokenizer '{}' answers '{}', which is not a JSON object", path,
                              line.substr(0, 80)));
    if (answer.contains("error"))
      throw UserError(get<std::string>(answer, "error"));
    return answer;
  }

  /// An entry of an answer. Its values come from files, such as generation_config.json, which may
  /// have any.
  template <typename Value> Value get(const nlohmann::json &answer, const char *key) const {
    const auto isNumber = [](const nlohmann::json &value) { return value.is_number_integer(); };
    const nlohmann::json entry = answer.contains(key) ? answer[key] : nlohmann::json();
    bool isExpected = entry.is_string();
    if constexpr (std::is_same_v<Value, std::vector<int64_t>>)
      isExpected = entry.is_array() && std::ranges::all_of(entry, isNumber);
    else if constexpr (std::is_same_v<Value, int64_t>)
      isExpected = isNumber(entry);
    if (!isExpected)
      throw UserError(fmt::format("the tokenizer '{}' answers {} as `{}`: check its files, and "
                                  "generation_config.json",
                                  path, entry.dump().substr(0, 80), key));
    return entry.get<Value>();
  }

  std::string path;
  bool chat;
  int64_t vocabulary;
  HelperProcess helper;
  nlohmann::json greeting;
};

} // namespace

std::unique_ptr<Tokenizer> openTokenizer(const Options &options, bool dataAreText,
                                         int64_t vocabulary) {
  const std::string path =
      options.tokenizer.empty() ? findTokenizerSource(options.initFrom) : options.tokenizer;
  if (!path.empty() && path != "bytes")
    return std::make_unique<Served>(path, options.chat, vocabulary);
  requireSources(options.initFrom);
  if (options.chat)
    throw UserError("--chat needs a tokenizer with a chat template: pass --tokenizer DIR");
  if (dataAreText || path == "bytes")
    return std::make_unique<Bytes>(vocabulary);
  return std::make_unique<Numbers>(vocabulary);
}

} // namespace titan::rt
