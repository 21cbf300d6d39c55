// Protects files from printed text. A process may start with a closed standard stream
// (`program >&- 2>&-`, some daemons). The next file that the process opens gets the number of that
// stream, and text that is printed to the stream would be written into the file.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace titan {

/// Opens /dev/null for each of 0, 1 and 2 that is closed. System calls only, so it can run before
/// the C library is ready.
__attribute__((no_sanitize("address", "thread", "undefined"))) inline void openStandardStreams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (syscall(SYS_fcntl, stream, F_GETFD) == -1)
      syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR); // the lowest free number
}

} // namespace titan
