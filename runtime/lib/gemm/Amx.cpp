// Whether the processor and the system offer AMX, and empty definitions for builds without AMX.
#include "Amx.h"
#include "AmxFloat.h"
#include "MatrixUnit.h"
#include "Request.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace titan::rt::amx {

// This file is compiled without AMX instructions, because isAvailable() runs on every processor.
bool isAvailable() {
#if defined(__x86_64__) && defined(__linux__) && defined(TITAN_AMX)
  static const bool available = [] {
    constexpr int requestPermission = 0x1023, tileData = 18;     // ARCH_REQ_XCOMP_PERM, XTILEDATA
    constexpr unsigned bf16OnTiles = 1u << 22, tiles = 1u << 24; // clang 14 has no names for them
    unsigned a = 0, b = 0, c = 0, d = 0;
    const Bfloat16Request requested = requestForBfloat16();
    if (requested == Bfloat16Request::Vectors || requested == Bfloat16Request::Widen)
      return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & bf16OnTiles) && (d & tiles) &&
           __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") &&
           syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  }();
  return available;
#else
  return false;
#endif
}

#ifndef TITAN_AMX // unreachable: isAvailable() is false
size_t scratchBytes(const Extents &) {
  return 0;
}
void multiply(const Operand &, const Operand &, const Extents &, bool, float *, int64_t, void *) {}
void multiply(const Operand &, const Operand &, const Extents &, bool, bf16 *, int64_t, void *) {}

int64_t panelElements(int64_t) {
  return 0;
}
void packLeft(const FloatOperand &, const Slice &, uint16_t *) {}
void packRight(const FloatOperand &, const Slice &, uint16_t *) {}
void multiplyPanels(const uint16_t *, const uint16_t *, const Extents &, bool, float *, int64_t) {}
const MatrixUnit *matrixUnit() {
  return nullptr;
}
#endif

} // namespace titan::rt::amx
