// The machine that a run is predicted for: the devices of its ranks and the links between them.
// Plain data in SI units: bytes, seconds, floating-point operations per second. MachineFile.h reads
// a machine from a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace titan {

/// The measured time of a kernel of products: `batch` products of m x k by k x n, or attention of m
/// queries of size k to n keys.
struct MeasuredKernel {
  double batch, m, n, k;
  double flops; ///< of attention, those of the scores that its mask lets through
  double seconds;
};

/// Products of one element type. The measured kernels are those of `titanc calibrate`; without any,
/// the efficiencies of the device hold.
struct ProductRates {
  double peak = 0; ///< FLOP/s of dense products
  std::vector<MeasuredKernel> measured, attentionForward, attentionBackward;
};

/// A level of memory that serves kernels whose operands and results fit in it.
struct MemoryLevel {
  double bytes = 0;     ///< infinite for the memory itself
  double bandwidth = 0; ///< bytes/s that kernels reach
};

/// The processor of one rank, with its own memory: a GPU, or the cores of a CPU.
struct Device {
  bool isCuda = false;
  double memory = 0;                            ///< bytes
  double cores = 1;                             ///< multiprocessors of a GPU, cores of a CPU
  double launch = 0;                            ///< seconds in which the host starts a kernel
  std::map<std::string, ProductRates> products; ///< by element type: "bf16"
  /// The fraction of the peak that a large product reaches, if none is measured.
  double productEfficiency = 1;
  double tileRows = 128, tileColumns = 128; ///< of the result, computed by one core
  double halfDepth = 0; ///< the k of a product that reaches half of that fraction
  double attentionForward = 1, attentionBackward = 1; ///< likewise, fractions of the peak
  std::vector<MemoryLevel> levels;                    ///< ascending by bytes; the last is infinite
  double arithmetic = 0; ///< elementwise operations per second: additions, products, comparisons
  double special = 0;    ///< elementwise exp, log, tanh, ... per second
};

/// A network that connects groups of consecutive ranks.
struct Link {
  std::string name;
  int64_t ranks = 0;    ///< the number of ranks of a group; 0: all ranks
  double bandwidth = 0; ///< bytes/s that a rank sends in a long message
  double latency = 0;   ///< seconds of a message
  /// The fraction of the device's cores that a collective takes from kernels beside it.
  double stolen = 0;
};

struct Machine {
  std::string name;
  Device device;
  std::vector<Link> links; ///< ascending by ranks; the last connects all ranks
};

} // namespace titan
