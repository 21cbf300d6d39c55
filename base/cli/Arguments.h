// Options of the command lines of titanc and of emitted programs. Titan's error messages replace
// CLI11's: they name the option, its legal values and the given value.
#pragma once

#include "base/text/NearestName.h"

#include <charconv>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace titan::cli {

/// Throws the error "OPTION takes TAKES, not `GIVEN`".
[[noreturn]] inline void refuse(const std::string &option, const std::string &takes,
                                const std::string &given) {
  throw CLI::ParseError(option + " takes " + takes + ", not `" + given + "`", 2);
}

/// An option with a number from `least` to `most`; an integer if `T` is an integer type.
template <typename T, typename Target>
CLI::Option *addNumber(CLI::App &app, const std::string &name, T least, Target &target,
                       const std::string &help, T most = std::numeric_limits<T>::max()) {
  auto read = [&target, name, least, most](const std::string &text) {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool isInteger = std::numeric_limits<T>::is_integer;
    const bool isBeyond =
        (error == std::errc::result_out_of_range && text[0] != '-') || value > most;
    // Negated to refuse NaN too.
    if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
        value > most)
      refuse(name,
             std::string(isInteger ? "a whole number" : "a number") + " from " +
                 CLI::detail::to_string(least) +
                 (isInteger && isBeyond ? " to " + std::to_string(most) : " on"),
             text);
    target = value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

/// An option with a number above 0.
inline CLI::Option *addPositive(CLI::App &app, const std::string &name, double &target,
                                const std::string &help) {
  auto read = [&target, name](const std::string &text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isRead = error == std::errc() && end == text.data() + text.size();
    if (!isRead || !(value > 0 && value <= std::numeric_limits<double>::max()))
      refuse(name, "a number above 0", text);
    target = value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

/// An option whose legal values are the keys of `words`; `target` becomes the value of the key.
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

/// Refuses empty values of options, since an unset shell variable would look like a missing option.
/// The option named `allowedEmpty` may have an empty value. Positional arguments are not checked
/// here: `titanc run` passes some of them on to the program.
inline void refuseEmpty(const CLI::App &app, const std::string &allowedEmpty = "") {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &value : option->results())
      if (value.empty() && !option->get_positional() && option->get_name() != allowedEmpty)
        throw CLI::ParseError(option->get_name() + " needs a non-empty value", 2);
}

/// The names of the commands of an application.
inline std::vector<std::string> getCommandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}
/// The names of all options of an application and of its commands.
inline std::vector<std::string> getOptionNames(const CLI::App &app) {
  std::vector<const CLI::App *> all = app.get_subcommands({});
  all.push_back(&app);
  std::vector<std::string> names;
  for (const CLI::App *command : all)
    for (const CLI::Option *option : command->get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  return names;
}

/// "; did you mean `--steps`?", for an unknown name; empty if no known name is near.
inline std::string didYouMean(const std::string &name, const std::vector<std::string> &known) {
  std::string near = nearestName(name.substr(0, name.find('=')), known);
  return near.empty() ? "" : "; did you mean `" + near + "`?";
}

/// The unknown argument; empty for other errors.
inline std::string unknownArgument(const CLI::ParseError &error) {
  if (!dynamic_cast<const CLI::ExtrasError *>(&error))
    return "";
  std::string text = error.what(), mark = "expected: ";
  std::string arguments = text.substr(text.find(mark) + mark.size()); // in reverse order
  return arguments.substr(arguments.rfind(' ') + 1);
}

/// The message for an error of CLI11: unknown or repeated arguments, missing options or values.
inline std::string explain(const CLI::ParseError &error) {
  std::string text = error.what();
  if (std::string unknown = unknownArgument(error); !unknown.empty())
    return "unknown argument `" + unknown + "`";
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
