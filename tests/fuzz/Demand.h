// Assertions of the fuzz targets: a property of the compiler that does not hold aborts the program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

/// Prints the message and aborts, so that libFuzzer saves the input.
[[noreturn]] inline void fail(const std::string &message) {
  std::fprintf(stderr, "fuzz: %s\n", message.c_str());
  std::abort();
}

inline void demand(bool holds, const char *message) {
  if (!holds)
    fail(message);
}
