// `titanc check --verify`: comments in the source state the diagnostics that checking must report.
//
//   let a = x + tokens   # expected-error {{element types differ: f32 and int [T0309]}}
//   # expected-note@-1:11 {{this is f32}}
//
// An expectation is `expected-KIND`, an optional source location, an optional count, and a part of
// the message in double braces. KIND is `error`, `warning`, `note` or `help`. The location is the
// line of the comment, or `@+N`, `@-N`, `@N` (a line) or `@*` (anywhere), and optionally `:COLUMN`
// (`@:COLUMN` for the line of the comment).
// The form follows clang's `-verify` and MLIR's `-verify-diagnostics`.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

namespace titan {

/// Compares the diagnostics of `reported` with the expectations in all of its sources. Reports to
/// `mismatches` each expectation without a diagnostic, each error, warning, note and help without
/// an expectation, and each malformed expectation.
void verifyExpectedDiagnostics(const DiagnosticEngine &reported, DiagnosticEngine &mismatches);

} // namespace titan
