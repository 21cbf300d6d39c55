// The elaborator: its shared state and its components.
//
// Calls of functions and blocks are inlined at once, so every type is known when it is needed and
// an error can show both the callee and the call. A `repeat` is interpreted once per index, because
// its effect may depend on the index; equal bodies are merged. An error results in an Error value,
// which propagates silently, and the interpretation continues.
//
// Bodies contain expressions, expressions call functions, and functions have bodies. The components
// therefore refer to one another. An earlier component uses later ones only to evaluate expressions
// in arguments and options.
#pragma once

#include "compiler/sema/elaboration/Adaptation.h"
#include "compiler/sema/elaboration/Annotations.h"
#include "compiler/sema/elaboration/Arithmetic.h"
#include "compiler/sema/elaboration/Budget.h"
#include "compiler/sema/elaboration/Buffers.h"
#include "compiler/sema/elaboration/Builtins.h"
#include "compiler/sema/elaboration/Callables.h"
#include "compiler/sema/elaboration/Calls.h"
#include "compiler/sema/elaboration/Components.h"
#include "compiler/sema/elaboration/DimNames.h"
#include "compiler/sema/elaboration/Expressions.h"
#include "compiler/sema/elaboration/Indexing.h"
#include "compiler/sema/elaboration/Initialisers.h"
#include "compiler/sema/elaboration/InputDropout.h"
#include "compiler/sema/elaboration/Losses.h"
#include "compiler/sema/elaboration/Parameters.h"
#include "compiler/sema/elaboration/Recorder.h"
#include "compiler/sema/elaboration/Repeats.h"
#include "compiler/sema/elaboration/Reports.h"
#include "compiler/sema/elaboration/Reshaping.h"
#include "compiler/sema/elaboration/Statements.h"
#include "compiler/sema/elaboration/TensorOps.h"

namespace titan::sema {

struct Elaboration {
  Elaboration(const Library &library, DiagnosticEngine &diags, Model &model,
              const Specialisation &spec, Frame &top)
      : library(library), diags(diags), model(model), spec(spec), context{&top, {}, {}, false} {}

  const Library &library;
  DiagnosticEngine &diags;
  Model &model;
  const Specialisation &spec;
  EvalContext context;

  Budget budget{*this};
  Reports reports{*this};
  DimNames dims{*this};
  Recorder recorder{*this};
  Annotations annotations{*this};
  TensorOps tensors{*this};
  InputDropout inputDropout{*this};
  Arithmetic arithmetic{*this};
  Builtins builtins{*this};
  Indexing indexing{*this};
  Reshaping reshaping{*this};
  Callables callables{*this};
  Calls calls{*this};
  Components components{*this};
  Expressions expressions{*this};
  Initialisers initialisers{*this};
  Parameters parameters{*this};
  Buffers buffers{*this};
  Adaptation adaptation{*this};
  Losses losses{*this};
  Repeats repeats{*this};
  Statements statements{*this};
};

} // namespace titan::sema
