// Statistics and debug output of passes.
//
// LLVM's facilities for both are empty in builds without assertions, such as distributions ship.
// The macros below work in every build: titan-opt prints statistics with --titan-statistics, and
// debug output with --debug-only=PASS. With an LLVM that has assertions, --mlir-pass-statistics
// prints the same statistics pass by pass.
#pragma once

#include "llvm/Config/abi-breaking.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace titan {

/// Whether --debug-only selects the pass with this flag.
bool isDebugged(const char *pass);

/// Selects one more pass.
void addDebugged(const std::string &pass);

/// The sum of a statistic over all runs of a pass. Objects are static: the list of all counters
/// refers to them.
class PassCounter {
public:
  PassCounter(llvm::StringRef pass, llvm::StringRef name);
  void add(uint64_t amount) { value += amount; }
  uint64_t get() const { return value; }

  const std::string pass, name;

private:
  std::atomic<uint64_t> value = 0;
};

/// Prints all counters that are not 0, sorted by pass and name.
void printStatistics(llvm::raw_ostream &out);

} // namespace titan

/// Executes a statement that writes to llvm::errs() if --debug-only selects `PASS`. Functions run
/// in parallel, so that their lines may alternate without --mlir-disable-threading.
#define TITAN_DEBUG(PASS, STATEMENT)                                                               \
  do {                                                                                             \
    if (::titan::isDebugged(PASS)) {                                                               \
      STATEMENT;                                                                                   \
    }                                                                                              \
  } while (false)

/// LLVM's counter of a statistic exists only if the LLVM library was built with assertions. Without
/// them its constructor leaves the counter uninitialised, even where the header declares it.
#if LLVM_ENABLE_ABI_BREAKING_CHECKS
#define TITAN_COUNT_IN_LLVM(MEMBER, AMOUNT) (MEMBER) += (AMOUNT)
#else
#define TITAN_COUNT_IN_LLVM(MEMBER, AMOUNT) static_cast<void>(MEMBER)
#endif

/// In a pass: adds to the statistic `MEMBER` of Passes.td.
#define TITAN_COUNT(MEMBER, AMOUNT)                                                                \
  do {                                                                                             \
    static ::titan::PassCounter counter(getArgument(), #MEMBER);                                   \
    const uint64_t amount = (AMOUNT);                                                              \
    counter.add(amount);                                                                           \
    TITAN_COUNT_IN_LLVM(MEMBER, amount);                                                           \
  } while (false)
