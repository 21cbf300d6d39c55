#include "compiler/driver/Completion.h"
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/driver/Commands.h"
#include "compiler/sema/runs/Options.h"

#include "CLI/CLI.hpp"
#include "llvm/ADT/StringExtras.h"

#include <iostream>

namespace titan::driver {
namespace {

std::vector<std::string> listSpellings(const CLI::Option &option) {
  std::vector<std::string> all;
  for (const std::string &name : option.get_lnames())
    all.push_back("--" + name);
  for (const std::string &name : option.get_snames())
    all.push_back("-" + name);
  return all;
}

std::string listOptions(const CLI::App &app) {
  std::string words;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : listSpellings(*option))
      words += " " + (name == "-W" ? "-Werror" : name);
  return words.substr(1);
}

/// The completion of the value of an option, as a `word)` of a `case`.
std::string completeValues(const CLI::Option &option) {
  std::string type = option.get_type_name(), names, complete;
  for (const std::string &name : listSpellings(option))
    names += (names.empty() ? "" : "|") + name;
  if (names.empty() || option.get_expected_max() == 0)
    return ""; // a positional argument, a flag
  if (type.find('|') != std::string::npos) {
    std::string words = type;
    std::replace(words.begin(), words.end(), '|', ' ');
    complete = "words='" + words + "'";
  } else if (type == "PATH=VALUE") {
    std::string words;
    for (const sema::OptionSpec &spec : sema::optionTable())
      words += (words.empty() ? "" : " ") + spec.path + "=";
    complete = "words='" + words + "'";
  } else {
    complete = type == "DIR" || type == "PATH" ? "files=1" : "return";
  }
  return "    " + names + ") " + complete + " ;;\n";
}

std::string listCodes() {
  std::string words;
  for (const CodeInfo &info : allCodes())
    words += (words.empty() ? "" : " ") + codeText(info.code);
  return words;
}

std::string makeScript(const CLI::App &app) {
  std::set<std::string> values;
  std::string commands, options;
  auto addValues = [&](const CLI::App &of) {
    for (const CLI::Option *option : of.get_options())
      values.insert(completeValues(*option));
  };
  addValues(app);
  for (const CLI::App *command : app.get_subcommands({})) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    options += "      " + command->get_name() + ") words='" + listOptions(*command) + "' ;;\n";
    addValues(*command);
  }
  std::string afterOption;
  for (const std::string &value : values)
    afterOption += value;
  std::string choices = commands;
  std::replace(choices.begin(), choices.end(), ' ', '|');
  return "_titanc() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command='' words='' files='' i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case ${COMP_WORDS[i]} in " +
         choices +
         ") command=${COMP_WORDS[i]}; break ;; esac\n"
         "  done\n"
         "  case $before in\n" +
         afterOption +
         "  esac\n"
         "  if [[ -z $words && -z $files && $current == -* ]]; then\n"
         "    case $command in\n" +
         options + "      *) words='" + listOptions(app) +
         "' ;;\n"
         "    esac\n"
         "  elif [[ -z $words && $command == explain ]]; then\n"
         "    words='" +
         listCodes() +
         "'\n"
         "  elif [[ -z $words && -z $files && $command == schedule ]]; then\n"
         "    words='" +
         llvm::join(llvm::split(listScheduleNames(), ", "), " ") +
         "'\n"
         "    files=1\n"
         "  elif [[ -z $words ]]; then\n"
         "    files=1\n"
         "    [[ -n $command ]] || words='" +
         commands +
         "'\n"
         "  fi\n"
         "  if [[ $words == *= ]]; then compopt -o nospace 2> /dev/null; fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- \"$current\")); fi\n"
         "}\n"
         "complete -o filenames -F _titanc titanc\n";
}

} // namespace

int printCompletion(const CLI::App &app, Shell shell) {
  if (shell == Shell::Zsh)
    std::cout << "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n";
  std::cout << makeScript(app);
  return 0;
}

} // namespace titan::driver
