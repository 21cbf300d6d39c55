// Limits of the work and the size of a program. The elaborator interprets all calls and iterations,
// so a short text can request endless work. No program that could train reaches these limits.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Budget : ElaboratorComponent {
public:
  explicit Budget(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// Counts one expression.
  bool spend(Location at) { return ++work() <= maxWork || withinBounds(at); }
  /// Counts one iteration of a repeat.
  bool iterate(Location at) { return ++iterations, withinBounds(at); }
  /// Whether a repeat may have this many iterations. Reports otherwise, before it is interpreted.
  bool mayRepeat(int64_t count, Location at);
  /// Returns false, after one report, if the program or the work exceeds a limit.
  bool withinBounds(Location at);

  size_t iterations = 0; ///< over all repeats

private:
  size_t &work() { return spec.work ? *spec.work : ownWork; }

  size_t ownWork = 0;
  bool tooLarge = false; ///< a limit was exceeded and reported
};

} // namespace titan::sema
