// Builds locations, names and literals from the parse tree.
#include "compiler/syntax/Builder.h"

#include "base/text/ReadNumber.h"

namespace titan::syntax {

Location Builder::at(const antlr4::Token &token) const {
  return sources.locate(file, token.getStartIndex(),
                        token.getStopIndex() + 1 - token.getStartIndex());
}

/// From the first to the last token, without the line end after an entry.
Location Builder::at(const antlr4::ParserRuleContext &context) const {
  antlr4::Token *first = const_cast<antlr4::ParserRuleContext &>(context).getStart();
  antlr4::Token *last = const_cast<antlr4::ParserRuleContext &>(context).getStop();
  if (!last || last->getStopIndex() < first->getStartIndex())
    last = first;
  return sources.locate(file, first->getStartIndex(),
                        last->getStopIndex() + 1 - first->getStartIndex());
}

std::string Builder::text(const antlr4::ParserRuleContext &context) const {
  return std::string(sources.text(at(context)));
}

Name Builder::name(antlr4::ParserRuleContext &context) const {
  return {text(context), at(context)};
}

Path Builder::path(P::PathContext &context) const {
  Path made;
  made.loc = at(context);
  Location first = at(*context.IDENT());
  made.segments.push_back({std::string(sources.text(first)), first});
  for (P::WordContext *word : context.word())
    made.segments.push_back(name(*word));
  return made;
}

std::vector<Path> Builder::paths(P::DimNamesContext &context) const {
  std::vector<Path> made;
  for (P::DimNameContext *dim : context.dimName())
    made.push_back(path(*dim->path()));
  return made;
}

Name Builder::unquote(antlr4::tree::TerminalNode &string) {
  Location location = at(string);
  return {unescape(sources.text(location), location), location};
}

std::string Builder::unescape(std::string_view quoted, Location location) {
  std::string out;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    switch (quoted[++i]) {
    case 'n':
      out += '\n';
      break;
    case 't':
      out += '\t';
      break;
    case '"':
    case '\\':
      out += quoted[i];
      break;
    default:
      Location escape = location;
      escape.col += static_cast<uint32_t>(i - 1);
      escape.length = 2;
      diags.report(Code::UnknownEscape, escape, "unknown escape in a string")
          .help("strings know \\n, \\t, \\\" and \\\\; write \\\\ for a backslash");
    }
  }
  return out;
}

ExprPtr Builder::buildInt(antlr4::tree::TerminalNode &node) {
  auto made = std::make_unique<IntExpr>(at(node));
  NumberText read = readNumber(sources.text(made->loc));
  made->value = read.integer;
  if (!read)
    diags.report(Code::NumberTooLarge, made->loc, "this number does not fit into 64 bits");
  return made;
}

ExprPtr Builder::buildFloat(antlr4::tree::TerminalNode &node) {
  auto made = std::make_unique<FloatExpr>(at(node));
  NumberText read = readNumber(sources.text(made->loc));
  made->value = read.number;
  if (!read)
    diags.report(Code::NumberTooLarge, made->loc, "this number is beyond the range of float64")
        .help(whyNoNumber(sources.text(made->loc)));
  return made;
}

} // namespace titan::syntax
