// Builds declarations of the weights of other software from the parse tree.
#include "compiler/syntax/Builder.h"

namespace titan::syntax {

bool Builder::checkWord(P::SoleWordContext &word, const char *expected) {
  if (text(word) == expected)
    return true;
  diags
      .report(Code::ExpectedSyntax, at(word),
              "expected `" + std::string(expected) + "`, found `" + text(word) + "`")
      .fix(at(word), expected);
  return false;
}

DeclPtr Builder::buildWeights(P::WeightsDeclContext &context) {
  auto made = std::make_unique<WeightsDecl>(at(context));
  made->format = unquote(*context.STRING());
  made->model = path(*context.modelName(0)->path());
  if (context.ASSIGN())
    made->base = path(*context.modelName(1)->path());
  for (P::WeightsEntryContext *entry : context.weightsBody()->weightsEntry())
    if (!entry->exception)
      buildEntry(*entry, *made);
  return made;
}

void Builder::buildEntry(P::WeightsEntryContext &context, WeightsDecl &made) {
  if (context.modelName())
    return buildComponent(context, made);
  if (context.soleWord())
    return buildWordEntry(context, made);
  WeightsDecl::Entry entry{path(*context.path()), unquote(*context.STRING(0)), {}, at(context)};
  if (context.storedDims()) {
    entry.dims.emplace();
    for (P::StoredDimContext *dim : context.storedDims()->storedDim())
      entry.dims->push_back(buildStoredDim(*dim));
  }
  made.entries.push_back(std::move(entry));
}

void Builder::buildComponent(P::WeightsEntryContext &context, WeightsDecl &made) {
  WeightsDecl::Component component{
      path(*context.path()), path(*context.modelName()->path()), {}, at(context)};
  if (context.soleWord() && checkWord(*context.soleWord(), "under"))
    component.tensors = unquote(*context.STRING(0));
  made.components.push_back(std::move(component));
}

/// An entry that begins with a word: `split`, `merge`, `copy` or `unused`.
void Builder::buildWordEntry(P::WeightsEntryContext &context, WeightsDecl &made) {
  P::SoleWordContext &word = *context.soleWord();
  if (context.AS()) {
    if (checkWord(word, "split"))
      made.splits.push_back(buildSplit(context));
  } else if (context.expr()) {
    if (checkWord(word, "merge"))
      made.merges.push_back({path(*context.path()), build(*context.expr()), at(context)});
  } else if (context.ASSIGN()) {
    if (checkWord(word, "copy"))
      made.copies.push_back({unquote(*context.STRING(0)), unquote(*context.STRING(1))});
  } else if (checkWord(word, "unused")) {
    for (antlr4::tree::TerminalNode *pattern : context.STRING())
      made.unused.push_back(unquote(*pattern));
  }
}

WeightsDecl::Split Builder::buildSplit(P::WeightsEntryContext &context) {
  WeightsDecl::Split split{path(*context.dimName()->path()), {}, at(context)};
  for (P::DimsItemContext *item : context.dimsItem())
    split.factors.push_back(
        {name(*item->newDim()), item->expr() ? build(*item->expr()) : nullptr, at(*item)});
  return split;
}

WeightsDecl::Dim Builder::buildStoredDim(P::StoredDimContext &context) {
  WeightsDecl::Dim dim{{}, nullptr, at(context)};
  for (P::StoredFactorContext *factor : context.storedFactor())
    dim.factors.push_back(buildStoredFactor(*factor));
  if (context.soleWord() && checkWord(*context.soleWord(), "from"))
    dim.from = build(*context.expr());
  return dim;
}

WeightsDecl::Factor Builder::buildStoredFactor(P::StoredFactorContext &context) {
  WeightsDecl::Factor factor;
  factor.loc = at(context);
  if (context.dimName())
    factor.dim = path(*context.dimName()->path());
  else
    factor.from = buildInt(*context.INT());
  if (context.OF())
    factor.extent = build(*context.expr(0));
  if (context.soleWord() && checkWord(*context.soleWord(), "from"))
    factor.from = build(*context.expr(1));
  return factor;
}

} // namespace titan::syntax
