// Bounds of the work on a program. Everything is interpreted, so a short text can ask for endless
// work; no program that could ever train comes near them.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_BUDGET_H
#define TITAN_COMPILER_SEMA_ELABORATION_BUDGET_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Budget : ElaboratorComponent {
public:
  explicit Budget(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// Of one expression.
  bool spend(Location at) { return ++work() <= maxWork || withinBounds(at); }
  /// Of one iteration of a repeat.
  bool iterate(Location at) { return ++iterations, withinBounds(at); }
  /// Whether a repeat may run so often; reports otherwise, before any time goes into it.
  bool mayRepeat(int64_t count, Location at);
  /// False, once reported, when the program grows beyond all reason, or the work on it.
  bool withinBounds(Location at);

  size_t iterations = 0; ///< of all repeats

private:
  size_t &work() { return spec.work ? *spec.work : ownWork; }

  size_t ownWork = 0;
  bool tooLarge = false;
};

} // namespace titan::sema

#endif
