// Finds the first operations of a step whose results are infinite or not a number. While a watch is
// set (Executor::setNumbers), the code of programs with `check_numbers = true` announces each
// operation that computes numbers, with the memory of its operands and results, and the operations
// within fused ones (watch.h). Not on devices: there, a fused operation is one operation.
//
// A not-a-number is found in the first result that has one. An infinity may be meant, as in a mask;
// so those that an operation makes from finite operands are kept apart from those that it reads.
#pragma once

#include "device/Device.h"
#include "titan/runtime/watch.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// An operation with such a result. Ranks exchange it as bytes.
struct FoundNumber {
  /// In program order: function, part of a step with stages (`FragmentPosition`), operation, and
  /// operation within a fused one. Comparable between ranks.
  std::array<int64_t, 6> order = {};
  int64_t isFound = 0;
  int64_t isMade = 0; ///< no operand of the operation has such a number
  std::array<char, 96> location = {};
  std::array<char, 32> action = {};
  std::array<char, 128> iterations = {}; ///< "layers = 3, microbatches = 1"; empty outside repeats
};

enum class NonFiniteKind : uint8_t { Nan, MadeInfinity, ReadInfinity };
constexpr size_t numNonFiniteKinds = 3;

/// The position of a fragment in the program that has not been cut into stages.
struct FragmentPosition {
  int64_t phase;      ///< 0: before the microbatches, 1: of a microbatch, 2: after them
  int64_t microbatch; ///< -1: none
  int64_t pass;       ///< of a microbatch: forward stages ascend, backward stages follow
};

/// Whether such numbers are among `count` elements of memory that the host can read, as the bits of
/// watch.h.
uint8_t findNumberBits(const void *data, DType type, int64_t count);

class NumberWatch {
public:
  explicit NumberWatch(Device &device) : device(device) {}

  /// The next function of a step begins, or the next fragment of one.
  void beginFunction() { ++order[0]; }
  void beginFragment(const FragmentPosition &position);
  void operation(const Context &ctx, std::initializer_list<Numbers> reads,
                 std::initializer_list<Numbers> writes, int channel);
  void steps(const Context &ctx, std::span<const WatchedStep> steps, const uint8_t *seen);
  /// The function ends: its last results are complete.
  void finish();

  /// The first one of this kind on this rank.
  const FoundNumber &first(NonFiniteKind kind) const { return found[static_cast<size_t>(kind)]; }

private:
  /// The operation whose results the next call looks at.
  struct Pending {
    FoundNumber operation;
    uint8_t operands = 0;
    std::vector<Numbers> results;
  };
  uint8_t readBits(const Numbers &numbers);
  FoundNumber makeFound(const Context &ctx, const char *location, const char *action) const;
  void note(const FoundNumber &candidate, uint8_t bits);

  Device &device;
  std::array<int64_t, 6> order = {};
  Pending pending;
  std::map<int, uint8_t> inFlight; ///< bits of the operands of collectives that have started
  std::array<FoundNumber, numNonFiniteKinds> found;
};

} // namespace titan::rt
