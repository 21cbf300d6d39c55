// Builds expressions and brackets from the parse tree.
#include "compiler/syntax/Builder.h"

namespace titan::syntax {
namespace {

BinaryOp binaryOp(size_t token) {
  switch (token) {
  case TitanParser::PLUS:
    return BinaryOp::Add;
  case TitanParser::MINUS:
    return BinaryOp::Sub;
  case TitanParser::STAR:
    return BinaryOp::Mul;
  case TitanParser::SLASH:
    return BinaryOp::Div;
  case TitanParser::PERCENT:
    return BinaryOp::Mod;
  case TitanParser::POW:
    return BinaryOp::Pow;
  case TitanParser::AT:
    return BinaryOp::Contract;
  case TitanParser::EQ:
    return BinaryOp::Eq;
  case TitanParser::NE:
    return BinaryOp::Ne;
  case TitanParser::LT:
    return BinaryOp::Lt;
  case TitanParser::LE:
    return BinaryOp::Le;
  case TitanParser::GT:
    return BinaryOp::Gt;
  case TitanParser::GE:
    return BinaryOp::Ge;
  case TitanParser::AND:
    return BinaryOp::And;
  default:
    return BinaryOp::Or;
  }
}

bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Eq && op <= BinaryOp::Ge;
}

} // namespace

ExprPtr Builder::build(P::ExprContext &context) {
  if (auto *operand = dynamic_cast<P::OperandExprContext *>(&context))
    return buildOperand(*operand->operand());
  if (auto *binary = dynamic_cast<P::BinaryContext *>(&context))
    return buildBinary(*binary);
  if (auto *conditional = dynamic_cast<P::ConditionalContext *>(&context)) {
    auto made = std::make_unique<IfExpr>(at(context));
    made->cond = build(*conditional->expr(0));
    made->thenValue = build(*conditional->expr(1));
    made->elseValue = build(*conditional->expr(2));
    return made;
  }
  if (auto *choice = dynamic_cast<P::ChoiceContext *>(&context))
    return buildMatch(*choice);
  auto made = std::make_unique<UnaryExpr>(at(context));
  if (auto *negate = dynamic_cast<P::NegateContext *>(&context)) {
    made->op = UnaryOp::Neg;
    made->operand = build(*negate->expr());
  } else {
    made->op = UnaryOp::Not;
    made->operand = build(*static_cast<P::LogicalNotContext &>(context).expr());
  }
  return made;
}

static bool isWildcard(const Expr &pattern) {
  const auto *name = pattern.as<NameExpr>();
  return name && name->path.isSimple() && name->path.segments[0].text == "_";
}

ExprPtr Builder::buildMatch(P::ChoiceContext &context) {
  auto made = std::make_unique<MatchExpr>(at(context));
  made->subject = build(*context.expr());
  for (P::ArmContext *arm : context.arms()->arm()) {
    if (arm->exception)
      continue;
    std::vector<P::ExprContext *> exprs = arm->expr();
    MatchExpr::Arm &added = made->arms.emplace_back();
    added.loc = at(*arm);
    added.value = build(*exprs.back());
    exprs.pop_back();
    for (P::ExprContext *pattern : exprs)
      added.patterns.push_back(build(*pattern));
    if (added.patterns.size() == 1 && isWildcard(*added.patterns[0]))
      added.patterns.clear();
  }
  return made;
}

ExprPtr Builder::buildBinary(P::BinaryContext &context) {
  auto made = std::make_unique<BinaryExpr>(at(context));
  made->op = binaryOp(context.op->getType());
  made->opLoc = at(*context.op);
  // The tree is left-deep, so its depth is the length of the chain.
  auto *left = dynamic_cast<P::BinaryContext *>(context.expr(0));
  if (left && isComparison(made->op) && isComparison(binaryOp(left->op->getType())))
    diags.report(Code::ChainedComparison, made->opLoc, "comparisons cannot be chained")
        .note(at(*left->op), "the first one is here")
        .help("join two comparisons by `and`");
  made->lhs = build(*context.expr(0));
  made->rhs = build(*context.expr(1));
  return made;
}

ExprPtr Builder::buildOperand(P::OperandContext &context) {
  ExprPtr made = buildPrimary(*context.primary());
  for (P::BracketContext *bracket : context.bracket())
    made = buildBracket(std::move(made), *bracket);
  return made;
}

ExprPtr Builder::buildBracket(ExprPtr base, P::BracketContext &context) {
  std::vector<P::BracketItemContext *> items = context.bracketItem();
  Location whole = sources.cover(base->loc, at(context));
  P::BracketItemContext *plain = nullptr, *indexed = nullptr;
  for (P::BracketItemContext *item : items) {
    if (item->index())
      indexed = item;
    else if (!item->AS())
      plain = item;
  }
  if (plain && indexed)
    diags.report(Code::MixedBracket, at(*plain), "a dimension without an index among indices")
        .note(at(*indexed), "this is an index")
        .help("a bracket either indexes (`x[seq: 0..n as prefix]`) or states all dimensions "
              "(`x[batch, seq]`)");
  if (indexed || (!plain && !items.empty())) {
    auto made = std::make_unique<IndexExpr>(whole);
    made->base = std::move(base);
    for (P::BracketItemContext *item : items)
      made->items.push_back(buildIndexItem(*item));
    return made;
  }
  auto made = std::make_unique<TypedExpr>(whole);
  made->base = std::move(base);
  made->dims.loc = at(context);
  for (P::BracketItemContext *item : items) {
    DimRef dim{path(*item->dimName()->path()), std::nullopt, false, at(*item)};
    if (item->newDim())
      dim.rename = name(*item->newDim());
    dim.hides = item->hidingWord() && checkWord(*item->hidingWord()->soleWord(), "new");
    made->dims.dims.push_back(std::move(dim));
  }
  return made;
}

IndexItem Builder::buildIndexItem(P::BracketItemContext &context) {
  IndexItem item;
  item.loc = at(context);
  item.dim = path(*context.dimName()->path());
  if (context.newDim())
    item.rename = name(*context.newDim());
  item.hides = context.hidingWord() && checkWord(*context.hidingWord()->soleWord(), "new");
  P::IndexContext *index = context.index();
  if (!index) {
    item.kind = IndexKind::Rename;
    return item;
  }
  std::vector<P::ExprContext *> exprs = index->expr();
  if (!index->RANGE()) {
    item.kind = IndexKind::Take;
    item.index = build(*exprs[0]);
    if (item.rename)
      diags.report(Code::BadRename, item.rename->loc,
                   "an index removes `" + item.dim.text() + "`, so no dimension is left to rename");
    return item;
  }
  item.kind = IndexKind::Slice;
  size_t range = index->RANGE()->getSymbol()->getStartIndex();
  for (P::ExprContext *expr : exprs)
    (expr->getStart()->getStartIndex() < range ? item.lower : item.upper) = build(*expr);
  return item;
}

ExprPtr Builder::buildPrimary(P::PrimaryContext &context) {
  if (auto *call = dynamic_cast<P::NameOrCallContext *>(&context))
    return buildCall(*call);
  if (auto *number = dynamic_cast<P::IntContext *>(&context))
    return buildInt(*number->INT());
  if (auto *number = dynamic_cast<P::FloatContext *>(&context))
    return buildFloat(*number->FLOAT());
  if (auto *string = dynamic_cast<P::StringContext *>(&context)) {
    auto made = std::make_unique<StringExpr>(at(context));
    made->value = unquote(*string->STRING()).text;
    return made;
  }
  if (auto *boolean = dynamic_cast<P::BoolContext *>(&context)) {
    auto made = std::make_unique<BoolExpr>(at(context));
    made->value = boolean->TRUE() != nullptr;
    return made;
  }
  if (auto *parens = dynamic_cast<P::ParensContext *>(&context))
    return buildParens(*parens);
  if (auto *list = dynamic_cast<P::ListContext *>(&context)) {
    auto made = std::make_unique<ListExpr>(at(context));
    for (P::ExprContext *expr : list->expr())
      made->elements.push_back(build(*expr));
    return made;
  }
  return std::make_unique<NoneExpr>(at(context));
}

ExprPtr Builder::buildParens(P::ParensContext &context) {
  std::vector<P::ExprContext *> exprs = context.expr();
  if (exprs.size() == 1 && context.COMMA().empty())
    return build(*exprs[0]);
  auto made = std::make_unique<TupleExpr>(at(context));
  for (P::ExprContext *expr : exprs)
    made->elements.push_back(build(*expr));
  return made;
}

} // namespace titan::syntax
