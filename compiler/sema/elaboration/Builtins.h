// The built-in functions. Functions composed of these are in stdlib/. Built-in functions whose
// calls contain new dimensions, and which therefore are not values, are in Reshaping.h.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class CallArgs;

class Builtins : ElaboratorComponent {
public:
  explicit Builtins(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  using Builtin = Value (Builtins::*)(CallArgs &);
  static const std::map<std::string, Builtin> &table();
  Value call(const Call &call);

private:
  // Builtins.cpp
  Value unary(CallArgs &args);
  Value toFloat(CallArgs &args);
  Value toInt(CallArgs &args);
  Value maxMin(CallArgs &args);
  Value reduce(CallArgs &args);
  Value mean(CallArgs &args);
  Value index(CallArgs &args);
  Value stopGradient(CallArgs &args);
  Value expand(CallArgs &args);
  // Where.cpp
  Value where(CallArgs &args);
  // Lists.cpp
  Value range(CallArgs &args);
  Value element(CallArgs &args);
  Value length(CallArgs &args);
  Value map(CallArgs &args);
  Value contains(CallArgs &args);
  // Attention.cpp, Rotary.cpp
  Value attention(CallArgs &args);
  Value window(CallArgs &args);
  Value document(CallArgs &args);
  Value rotary(CallArgs &args);
  // Ordering.cpp
  Value cumulativeSum(CallArgs &args);
  Value cumulativeCount(CallArgs &args);
  Value scatter(CallArgs &args);
  // Random.cpp
  Value random(CallArgs &args);
  Value dropout(CallArgs &args);
  Value inputDropout(CallArgs &args);
  bool checkDropout(CallArgs &args);
};

} // namespace titan::sema
