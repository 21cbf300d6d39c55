// Prints the tree for tests and for `--stop-after=parse`: one node per line, children indented by
// two.
#include "compiler/syntax/Dumper.h"

namespace titan::syntax {
namespace detail {

void Dumper::settings(const std::vector<Setting> &all) {
  for (const Setting &setting : all) {
    line("Setting ") << setting.path.text();
    if (setting.label)
      os << ' ' << quoted(setting.label->text);
    os << '\n';
    nested([&] {
      if (setting.value)
        expr(*setting.value);
      if (setting.block)
        settings(*setting.block);
    });
  }
}

void Dumper::stmt(const Stmt &stmt) {
  if (const auto *s = stmt.as<DimsStmt>()) {
    line("Dims") << '\n';
    nested([&] {
      for (const DimsStmt::Item &item : s->items)
        dimsItem(item);
    });
  } else if (const auto *s = stmt.as<ParamStmt>()) {
    param(*s);
  } else if (const auto *s = stmt.as<UpdateStmt>()) {
    line("Update ") << s->name.text << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<LossStmt>()) {
    line("Loss ") << s->name.text << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<MetricStmt>()) {
    line("Metric ") << s->name.text << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<StateStmt>()) {
    line("State ") << s->name.text << (s->dims ? text(*s->dims) : "") << '\n';
  } else if (const auto *s = stmt.as<OptionStmt>()) {
    line("Option ") << s->name.text << '\n';
    nested([&] {
      expr(*s->value);
      settings(s->limits);
    });
  } else if (const auto *s = stmt.as<InputStmt>()) {
    line("Input ") << s->name.text << text(s->type) << '\n';
  } else if (const auto *s = stmt.as<OutputStmt>()) {
    line("Output ") << s->name.text << text(s->type) << '\n';
    if (s->value)
      nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<LetStmt>()) {
    line("Let ");
    for (const LetStmt::Target &target : s->targets)
      os << (&target == s->targets.data() ? "" : ", ") << target.name.text << text(target.type);
    os << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<AssignStmt>()) {
    line("Assign ") << join(s->targets) << '\n';
    nested([&] { expr(*s->value); });
  } else if (const auto *s = stmt.as<ReturnStmt>()) {
    line("Return") << '\n';
    nested([&] { exprs(s->values); });
  } else {
    compoundStmt(stmt);
  }
}

void Dumper::param(const ParamStmt &stmt) {
  const char *init = stmt.init == ParamInit::Value         ? " ="
                     : stmt.init == ParamInit::Initialiser ? " ~"
                                                           : "";
  line(stmt.isBuffer ? "Buffer " : "Param ") << stmt.name.text << text(stmt.type) << init << '\n';
  nested([&] {
    if (stmt.initValue)
      expr(*stmt.initValue);
    settings(stmt.options);
  });
}

void Dumper::compoundStmt(const Stmt &stmt) {
  if (const auto *s = stmt.as<RepeatStmt>()) {
    line("Repeat") << (s->index ? " as " + s->index->text : "") << '\n';
    nested([&] {
      labelled("count", *s->count);
      body(s->body);
    });
  } else if (const auto *s = stmt.as<PrecisionStmt>()) {
    line("In ") << s->type.text << '\n';
    nested([&] { body(s->body); });
  } else if (const auto *s = stmt.as<IfStmt>()) {
    for (const IfStmt::Branch &branch : s->branches) {
      line(&branch == s->branches.data() ? "If" : "ElseIf") << '\n';
      nested([&] {
        labelled("cond", *branch.cond);
        body(branch.body);
      });
    }
    if (s->elseBody) {
      line("Else") << '\n';
      nested([&] { body(*s->elseBody); });
    }
  }
}

void Dumper::signature(const std::vector<Formal> &formals, const std::vector<Name> &results) {
  for (const Formal &formal : formals) {
    line("Formal ") << (formal.kind == FormalKind::Over    ? "over "
                        : formal.kind == FormalKind::Along ? "along "
                        : formal.kind == FormalKind::With  ? "with "
                                                           : "")
                    << formal.name.text << text(formal.type) << '\n';
    if (formal.defaultValue)
      nested([&] { expr(*formal.defaultValue); });
  }
  if (!results.empty())
    line("Results ") << join(results) << '\n';
}

void Dumper::import(const ImportDecl &decl) {
  for (const ImportDecl::Item &item : decl.items)
    line("Import ") << (item.file ? quoted(item.file->text) : item.path.text())
                    << (item.alias ? " as " + item.alias->text : "") << '\n';
}

void Dumper::axis(const AxisDecl &axis) {
  line("Axis ") << axis.name.text << '\n';
  nested([&] {
    expr(*axis.degree);
    use(axis.use);
    settings(axis.options);
  });
}

void Dumper::nodes(const NodesDecl &nodes) {
  line("Nodes ") << nodes.name.text << '\n';
  nested([&] {
    expr(*nodes.count);
    labelled("of", *nodes.ranksPerNode);
    settings(nodes.options);
  });
}

void Dumper::use(const AxisUse &use) {
  if (use.splits && use.splits->empty() && use.fallbackSplits.empty())
    line("splits none") << '\n';
  if (use.splits && !use.splits->empty())
    line("splits ") << join(*use.splits) << '\n';
  if (!use.fallbackSplits.empty())
    line("else ") << join(use.fallbackSplits) << '\n';
  if (use.stores)
    line("stores ") << (use.stores->empty() ? "none" : join(*use.stores)) << '\n';
}

void Dumper::overrides(const OverrideDecl &decl) {
  line("Overrides ") << decl.kind.text << ' ' << quoted(decl.pattern.text) << '\n';
  nested([&] {
    for (const OverrideDecl::Line &one : decl.lines) {
      line("Axis ") << one.axis.text << '\n';
      nested([&] { use(one.use); });
    }
  });
}

void Dumper::train(const TrainDecl &decl) {
  line("Train ") << decl.name.text << " = " << decl.base.text()
                 << (decl.parallel ? " on " + decl.parallel->text() : "")
                 << (decl.derived ? " with" : "") << '\n';
  nested([&] { settings(decl.settings); });
}

void Dumper::weights(const WeightsDecl &decl) {
  line("Weights ") << '"' << decl.format.text << "\" for " << decl.model.text()
                   << (decl.base ? " = " + decl.base->text() : "") << '\n';
  nested([&] {
    for (const WeightsDecl::Split &split : decl.splits) {
      line("Split ") << split.dim.text() << '\n';
      nested([&] {
        for (const DimsStmt::Item &item : split.factors)
          dimsItem(item);
      });
    }
    for (const WeightsDecl::Entry &entry : decl.entries)
      weightsEntry(entry);
    for (const WeightsDecl::Component &component : decl.components)
      line("Component ") << component.parameters.text() << " = " << component.model.text()
                         << (component.tensors ? " under \"" + component.tensors->text + '"' : "")
                         << '\n';
    for (const WeightsDecl::Merge &merge : decl.merges) {
      line("Merge ") << merge.parameter.text() << '\n';
      nested([&] { labelled("value", *merge.value); });
    }
    for (const WeightsDecl::Copy &copy : decl.copies)
      line("Copy ") << '"' << copy.tensor.text << "\" = \"" << copy.original.text << "\"\n";
    for (const Name &pattern : decl.unused)
      line("Unused ") << '"' << pattern.text << "\"\n";
  });
}

void Dumper::weightsEntry(const WeightsDecl::Entry &entry) {
  line("Entry ") << entry.parameter.text() << " = \"" << entry.tensor.text << "\"\n";
  if (!entry.dims)
    return;
  nested([&] {
    for (const WeightsDecl::Dim &dim : *entry.dims) {
      line("StoredDim") << '\n';
      nested([&] {
        for (const WeightsDecl::Factor &factor : dim.factors) {
          line("Factor ") << factor.dim.text() << '\n';
          nested([&] {
            if (factor.extent)
              labelled("of", *factor.extent);
            if (factor.from)
              labelled("from", *factor.from);
          });
        }
        if (dim.from)
          labelled("from", *dim.from);
      });
    }
  });
}

void Dumper::equation(const ConfigEntry &entry) {
  line("Equation ") << join(entry.keys) << (entry.index ? " as " + entry.index->text : "") << '\n';
  nested([&] {
    if (entry.count)
      labelled("count", *entry.count);
    expr(*entry.value);
    if (entry.fallback)
      labelled("default", *entry.fallback);
  });
}

void Dumper::entries(const std::vector<ConfigEntry> &all) {
  for (const ConfigEntry &entry : all) {
    if (entry.kind == ConfigEntry::Kind::Equation) {
      equation(entry);
      continue;
    }
    line(entry.kind == ConfigEntry::Kind::Optional ? "Optional "
         : entry.kind == ConfigEntry::Kind::Ignore ? "Ignore "
                                                   : "Training ")
        << join(entry.keys) << '\n';
    nested([&] {
      if (entry.absentKey)
        labelled(("unless " + entry.absentKey->text() + " ==").c_str(), *entry.absentValue);
      entries(entry.members);
    });
  }
}

void Dumper::config(const ConfigDecl &decl) {
  line("Config ") << (decl.model ? quoted(decl.name.text) + " for " + decl.model->text()
                                 : decl.name.text)
                  << (decl.sections.empty() ? "" : " with " + join(decl.sections)) << '\n';
  nested([&] { entries(decl.entries); });
}

void Dumper::decl(const Decl &decl) {
  if (const auto *d = decl.as<ImportDecl>()) {
    import(*d);
  } else if (const auto *d = decl.as<ModelDecl>()) {
    line("Model ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, {});
      body(d->body);
    });
  } else if (const auto *d = decl.as<ModelAliasDecl>()) {
    line("Model ") << d->name.text << " = " << d->base.text() << '\n';
    nested([&] { settings(d->settings); });
  } else if (const auto *d = decl.as<BlockDecl>()) {
    line("Block ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, d->results);
      body(d->body);
    });
  } else if (const auto *d = decl.as<FnDecl>()) {
    line("Fn ") << d->name.text << '\n';
    nested([&] {
      signature(d->formals, d->results);
      if (d->value)
        labelled("value", *d->value);
      if (d->body)
        body(*d->body);
    });
  } else if (const auto *d = decl.as<OptimizerDecl>()) {
    optimizerOrSchedule(*d, "Optimizer ");
  } else if (const auto *d = decl.as<ScheduleDecl>()) {
    optimizerOrSchedule(*d, "Schedule ");
  } else if (const auto *d = decl.as<DataDecl>()) {
    line("Data default") << '\n';
    nested([&] { settings(d->settings); });
  } else if (const auto *d = decl.as<ParallelDecl>()) {
    line("Parallel ") << d->name.text << '\n';
    nested([&] {
      for (const AxisDecl &one : d->axes)
        axis(one);
      for (const NodesDecl &one : d->nodes)
        nodes(one);
      for (const OverrideDecl &one : d->overrides)
        overrides(one);
    });
  } else if (const auto *d = decl.as<TrainDecl>()) {
    train(*d);
  } else if (const auto *d = decl.as<WeightsDecl>()) {
    weights(*d);
  } else if (const auto *d = decl.as<ConfigDecl>()) {
    config(*d);
  }
}

} // namespace detail

void dump(const Module &module, std::ostream &os) {
  detail::Dumper dumper(os);
  for (const DeclPtr &decl : module.decls)
    dumper.decl(*decl);
}

void dump(const Expr &expr, std::ostream &os) {
  detail::Dumper(os).expr(expr);
}

} // namespace titan::syntax
