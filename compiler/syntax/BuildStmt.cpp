// Builds statements, types and settings from the parse tree.
#include "compiler/syntax/Builder.h"

namespace titan::syntax {

DimList Builder::buildDimList(P::DimListContext &context) {
  DimList list;
  list.loc = at(context);
  for (P::DimRefContext *item : context.dimRef()) {
    DimRef dim{path(*item->dimName()->path()), std::nullopt, false, at(*item)};
    if (item->newDim())
      dim.rename = name(*item->newDim());
    dim.hides = item->hidingWord() && checkWord(*item->hidingWord()->soleWord(), "new");
    list.dims.push_back(std::move(dim));
  }
  return list;
}

/// The type in `x[batch]`, `x: int` and `x: int[batch]`; empty for `x`.
TypeSpec Builder::buildType(P::TypedNameContext &context) {
  TypeSpec type;
  if (context.typeName()) {
    type.dtype = name(*context.typeName());
    type.loc = type.dtype->loc;
  }
  if (context.dimList()) {
    type.dims = buildDimList(*context.dimList());
    type.loc = sources.cover(type.loc, type.dims->loc);
  }
  return type;
}

std::vector<Setting> Builder::buildSettings(P::SettingsContext &context) {
  return buildSettings(context.setting());
}

std::vector<Setting> Builder::buildSettings(const std::vector<P::SettingContext *> &entries) {
  std::vector<Setting> settings;
  for (P::SettingContext *setting : entries)
    if (!setting->exception)
      settings.push_back(buildSetting(*setting));
  return settings;
}

Setting Builder::buildSetting(P::SettingContext &context) {
  Setting setting;
  P::KeyContext &key = *context.key();
  setting.path = {names(key.word()), at(key)};
  setting.loc = setting.path.loc;
  if (context.STRING()) {
    setting.label = unquote(*context.STRING());
    setting.loc = sources.cover(setting.loc, setting.label->loc);
  }
  if (context.expr()) {
    setting.value = build(*context.expr());
    setting.loc = sources.cover(setting.loc, at(*context.expr()));
  }
  if (context.settings()) {
    setting.block = buildSettings(*context.settings());
    setting.loc = sources.cover(setting.loc, at(*context.settings()));
  }
  return setting;
}

Body Builder::buildBody(P::BodyContext &context) {
  Body body;
  body.loc = at(context);
  for (P::StatementContext *statement : context.statement())
    if (!statement->exception)
      body.stmts.push_back(buildStmt(*statement));
  return body;
}

StmtPtr Builder::buildStmt(P::StatementContext &context) {
  if (P::DimsStmtContext *stmt = context.dimsStmt())
    return buildDims(*stmt);
  if (P::ParamStmtContext *stmt = context.paramStmt())
    return buildParam(*stmt);
  if (P::UpdateStmtContext *stmt = context.updateStmt())
    return buildUpdate(*stmt);
  if (P::LossStmtContext *stmt = context.lossStmt())
    return buildLoss(*stmt);
  if (P::MetricStmtContext *stmt = context.metricStmt())
    return buildMetric(*stmt);
  if (P::StateStmtContext *stmt = context.stateStmt())
    return buildState(*stmt);
  if (P::OptionStmtContext *stmt = context.optionStmt())
    return buildOption(*stmt);
  if (P::OutputStmtContext *stmt = context.outputStmt())
    return buildOutput(*stmt);
  if (P::LetStmtContext *stmt = context.letStmt())
    return buildLet(*stmt);
  if (P::AssignStmtContext *stmt = context.assignStmt())
    return buildAssign(*stmt);
  if (P::RepeatStmtContext *stmt = context.repeatStmt())
    return buildRepeat(*stmt);
  if (P::IfStmtContext *stmt = context.ifStmt())
    return buildIf(*stmt);
  if (P::PrecisionStmtContext *stmt = context.precisionStmt()) {
    auto made = std::make_unique<PrecisionStmt>(at(*stmt));
    made->type = name(*stmt->typeName());
    made->body = buildBody(*stmt->body());
    return made;
  }
  if (P::ReturnStmtContext *stmt = context.returnStmt()) {
    auto made = std::make_unique<ReturnStmt>(at(*stmt));
    for (P::ExprContext *expr : stmt->expr())
      made->values.push_back(build(*expr));
    return made;
  }
  P::InputStmtContext &stmt = *context.inputStmt();
  auto made = std::make_unique<InputStmt>(at(stmt));
  made->name = name(*stmt.typedName()->newName());
  made->type = buildType(*stmt.typedName());
  return made;
}

StmtPtr Builder::buildDims(P::DimsStmtContext &context) {
  auto made = std::make_unique<DimsStmt>(at(context));
  for (P::DimsItemContext *item : context.dimsItem())
    made->items.push_back(
        {name(*item->newDim()), item->expr() ? build(*item->expr()) : nullptr, at(*item)});
  return made;
}

StmtPtr Builder::buildParam(P::ParamStmtContext &context) {
  auto made = std::make_unique<ParamStmt>(at(context));
  made->isBuffer = context.BUFFER() != nullptr;
  made->name = name(*context.typedName()->newName());
  made->type = buildType(*context.typedName());
  if (context.expr()) {
    made->init = context.TILDE() ? ParamInit::Initialiser : ParamInit::Value;
    made->initValue = build(*context.expr());
  }
  if (context.settings())
    made->options = buildSettings(*context.settings());
  return made;
}

StmtPtr Builder::buildUpdate(P::UpdateStmtContext &context) {
  auto made = std::make_unique<UpdateStmt>(at(context));
  made->name = name(*context.bufferName());
  made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildLoss(P::LossStmtContext &context) {
  auto made = std::make_unique<LossStmt>(at(context));
  made->name = name(*context.newName());
  made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildMetric(P::MetricStmtContext &context) {
  auto made = std::make_unique<MetricStmt>(at(context));
  made->name = name(*context.newName());
  made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildState(P::StateStmtContext &context) {
  auto made = std::make_unique<StateStmt>(at(context));
  made->name = name(*context.newName());
  if (context.dimList())
    made->dims = buildDimList(*context.dimList());
  return made;
}

StmtPtr Builder::buildOption(P::OptionStmtContext &context) {
  auto made = std::make_unique<OptionStmt>(at(context));
  made->name = name(*context.newName());
  made->value = build(*context.expr());
  if (context.settings())
    made->limits = buildSettings(*context.settings());
  return made;
}

StmtPtr Builder::buildOutput(P::OutputStmtContext &context) {
  auto made = std::make_unique<OutputStmt>(at(context));
  made->name = name(*context.typedName()->newName());
  made->type = buildType(*context.typedName());
  if (context.expr())
    made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildLet(P::LetStmtContext &context) {
  auto made = std::make_unique<LetStmt>(at(context));
  for (P::TypedNameContext *target : context.typedName())
    made->targets.push_back({name(*target->newName()), buildType(*target)});
  made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildAssign(P::AssignStmtContext &context) {
  auto made = std::make_unique<AssignStmt>(at(context));
  made->targets.push_back(name(*context.target()));
  for (P::NewNameContext *target : context.newName())
    made->targets.push_back(name(*target));
  made->value = build(*context.expr());
  return made;
}

StmtPtr Builder::buildRepeat(P::RepeatStmtContext &context) {
  auto made = std::make_unique<RepeatStmt>(at(context));
  made->count = build(*context.expr());
  if (context.newName())
    made->index = name(*context.newName());
  made->body = buildBody(*context.body());
  return made;
}

StmtPtr Builder::buildIf(P::IfStmtContext &context) {
  auto made = std::make_unique<IfStmt>(at(context));
  std::vector<P::ExprContext *> conds = context.expr();
  std::vector<P::BodyContext *> bodies = context.body();
  for (size_t i = 0; i < conds.size(); ++i)
    made->branches.push_back({build(*conds[i]), buildBody(*bodies[i])});
  if (bodies.size() > conds.size())
    made->elseBody = buildBody(*bodies.back());
  return made;
}

} // namespace titan::syntax
