// The parts of the elaboration, put together.
//
// Calls of functions and blocks are inlined as they are met, so every type is known when it is
// needed and an error can name both the callee's place and the call's. A `repeat` is interpreted
// once for every index, because what it does may depend on it; of equal bodies one is kept.
// Mistakes give Error values, which spread silently, and the interpretation goes on.
//
// Bodies hold expressions, which call functions, which have bodies: so the parts know one another.
// Those above need nothing of those below, but for expressions that an argument or an option is.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_ELABORATION_H
#define TITAN_COMPILER_SEMA_ELABORATION_ELABORATION_H

#include "compiler/sema/elaboration/Arithmetic.h"
#include "compiler/sema/elaboration/Budget.h"
#include "compiler/sema/elaboration/Buffers.h"
#include "compiler/sema/elaboration/Builtins.h"
#include "compiler/sema/elaboration/Callables.h"
#include "compiler/sema/elaboration/Calls.h"
#include "compiler/sema/elaboration/DimNames.h"
#include "compiler/sema/elaboration/Expressions.h"
#include "compiler/sema/elaboration/Indexing.h"
#include "compiler/sema/elaboration/Initialisers.h"
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
      : library(library), diags(diags), model(model), spec(spec), context{&top, {}, {}} {}

  const Library &library;
  DiagnosticEngine &diags;
  Model &model;
  const Specialisation &spec;
  EvalContext context;

  Budget budget{*this};
  Reports reports{*this};
  DimNames dims{*this};
  Recorder recorder{*this};
  TensorOps tensors{*this};
  Arithmetic arithmetic{*this};
  Builtins builtins{*this};
  Indexing indexing{*this};
  Reshaping reshaping{*this};
  Callables callables{*this};
  Calls calls{*this};
  Expressions expressions{*this};
  Initialisers initialisers{*this};
  Parameters parameters{*this};
  Buffers buffers{*this};
  Losses losses{*this};
  Repeats repeats{*this};
  Statements statements{*this};
};

} // namespace titan::sema

#endif
