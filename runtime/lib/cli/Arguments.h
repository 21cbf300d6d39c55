// What both command lines, titanc's and that of emitted programs, share: options whose mistakes are
// said in Titan's words instead of CLI11's, with the option, what it takes and what was given.
#pragma once

#include <charconv>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace titan::cli {

[[noreturn]] inline void refuse(const std::string &option, const std::string &takes,
                                const std::string &given) {
  throw CLI::ParseError(option + " takes " + takes + ", not `" + given + "`", 2);
}

/// An option that takes a number from `least` on: whole, if `T` holds whole numbers.
template <typename T, typename Target>
CLI::Option *addNumber(CLI::App &app, const std::string &name, T least, Target &target,
                       const std::string &help) {
  auto read = [&target, name, least](const std::string &text) {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = std::numeric_limits<T>::is_integer;
    // Negated, so that not-a-number is refused too.
    if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
        value > std::numeric_limits<T>::max())
      refuse(name,
             std::string(whole ? "a whole number" : "a number") + " from " +
                 CLI::detail::to_string(least) + " on",
             text);
    target = value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

/// An option that takes one of some words.
template <typename T>
CLI::Option *addWord(CLI::App &app, const std::string &name, const std::map<std::string, T> &words,
                     T &target, const std::string &help) {
  std::string legal;
  for (const auto &entry : words)
    legal += (legal.empty() ? "" : "|") + entry.first;
  auto read = [&target, name, legal, words](const std::string &text) {
    auto found = words.find(text);
    if (found == words.end())
      refuse(name, legal, text);
    target = found->second;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name(legal);
}

/// Any other mistake, in a sentence: unknown arguments, missing values.
inline std::string explain(const CLI::ParseError &error) {
  std::string text = error.what();
  auto after = [&](const std::string &mark) {
    size_t at = text.find(mark);
    return at == std::string::npos ? "" : text.substr(at + mark.size());
  };
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) { // in reverse order
    std::string arguments = after("expected: ");
    return "nothing is known of the argument `" + arguments.substr(arguments.rfind(' ') + 1) + "`";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
    bool isTwice = text.find("At Most") != std::string::npos;
    return text.substr(0, text.find(':')) +
           (isTwice ? " is given more than once" : " needs a value");
  }
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return text.substr(0, text.find(" is required")) + " is missing";
  return text;
}

} // namespace titan::cli
