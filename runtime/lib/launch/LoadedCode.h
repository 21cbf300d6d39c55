// Loading LibTorch runs constructors all over its code, which register its operations and whose
// tables and functions nobody needs again: some 50 MB of pages that would count as this process's
// memory to its end.
#pragma once

namespace titan::rt {

/// Gives the pages of the loaded libraries' code and constants back to the system. They are never
/// written, so that what is needed again comes back from the file (mostly from the system's memory)
/// when it is touched. The program's own stay: a debugger's breakpoints may be written there.
void releaseLoadedCode();

} // namespace titan::rt
