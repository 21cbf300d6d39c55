// Runs lexer, token preparation, parser and tree builder.
#include "compiler/syntax/Builder.h"
#include "compiler/syntax/Recovery.h"

#include "llvm/Support/ConvertUTF.h"

namespace titan::syntax {
namespace {

/// Reports the first byte that is NUL or not UTF-8. Returns true if the text can be parsed.
bool checkEncoding(const SourceManager &sources, FileId file, DiagnosticEngine &diags) {
  std::string_view text = sources.text(file);
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *bad = begin;
  bool legal = llvm::isLegalUTF8String(&bad, begin + text.size());
  size_t nul = text.find('\0');
  if (legal && nul == std::string_view::npos)
    return true;
  size_t offset = std::min(nul, legal ? std::string_view::npos : static_cast<size_t>(bad - begin));
  bool isWide = text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF";
  diags
      .report(Code::BadEncoding, sources.locate(file, offset, 1),
              isWide ? "this is UTF-16, not UTF-8 text" : "this is not UTF-8 text")
      .help("save the file as UTF-8");
  return false;
}

/// Converts tokens to the classes of the generated parser.
std::vector<std::unique_ptr<antlr4::Token>> forParser(const std::vector<Token> &tokens) {
  std::vector<std::unique_ptr<antlr4::Token>> out;
  out.reserve(tokens.size());
  for (const Token &token : tokens) {
    bool end = token.is(Token::endOfFile);
    auto made = std::make_unique<antlr4::CommonToken>(end ? antlr4::Token::EOF : token.type);
    made->setStartIndex(token.offset);
    made->setStopIndex(token.end() - 1); // before the start for an empty token
    made->setTokenIndex(out.size());
    out.push_back(std::move(made));
  }
  return out;
}

/// One parse: all objects with the lifetime of the parse tree.
class Parse {
public:
  Parse(const SourceManager &sources, FileId file, DiagnosticEngine &diags)
      : prepared(checkEncoding(sources, file, diags)
                     ? prepareTokens(sources, file, lex(sources.text(file)), diags)
                     : PreparedTokens{{Token()}, {}, true}),
        source(forParser(prepared.tokens)), stream(&source), parser(&stream) {
    parser.removeErrorListeners();
    parser.setErrorHandler(std::make_shared<Recovery>(sources, file, prepared, diags));
  }

  bool limitExceeded() const { return prepared.limitExceeded; }
  TitanParser &operator*() { return parser; }

private:
  PreparedTokens prepared;
  antlr4::ListTokenSource source;
  antlr4::CommonTokenStream stream;
  TitanParser parser;
};

} // namespace

std::unique_ptr<Module> parse(const SourceManager &sources, FileId file, DiagnosticEngine &diags) {
  auto module = std::make_unique<Module>();
  module->file = file;
  size_t reportedBefore = diags.all().size();
  Parse run(sources, file, diags);
  if (!run.limitExceeded())
    Builder(sources, file, diags).build(*(*run).file(), *module);
  diags.sort(reportedBefore);
  return module;
}

ExprPtr parseExpr(const SourceManager &sources, FileId file, DiagnosticEngine &diags) {
  size_t errorsBefore = diags.errorCount();
  Parse run(sources, file, diags);
  if (run.limitExceeded())
    return nullptr;
  // No rule around an expression recovers, so a syntax error throws the parser's exception.
  try {
    TitanParser::OnlyExprContext *context = (*run).onlyExpr();
    Builder builder(sources, file, diags);
    ExprPtr made = builder.build(*context->expr());
    for (const CallExpr *call : builder.passing())
      diags.report(Code::ExpectedSyntax, call->loc, "`with` has no meaning in a setting")
          .help("write the arguments");
    return diags.errorCount() == errorsBefore ? std::move(made) : nullptr;
  } catch (const antlr4::RecognitionException &) {
    return nullptr;
  }
}

} // namespace titan::syntax
