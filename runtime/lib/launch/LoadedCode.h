// Releases the memory of library code that only the start-up uses. LibTorch's constructors touch
// its code to register operations. About 50 MB of tables and functions are never used again, but
// would count as this process's memory until its end.
#pragma once

namespace titan::rt {

/// Releases the pages of loaded libraries' code and constants. They are never written, so they load
/// again on use, mostly from the page cache. The program's own pages stay, because a debugger may
/// have written breakpoints there.
void releaseLoadedCode();

} // namespace titan::rt
