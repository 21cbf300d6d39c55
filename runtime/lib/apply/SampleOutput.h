// An output of a program for one sample: its elements of all ranks, and how files store them.
#pragma once

#include "state/Executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

class SampleOutput {
public:
  SampleOutput(Executor &executor, const Tensor &tensor);

  const std::string &name() const { return tensor->name; }
  DType type() const { return tensor->info.dtype; }
  /// The sizes without the dimension of samples.
  const std::vector<int64_t> &shape() const { return sizes; }
  /// The elements of the last run, on all ranks, as NpyWriter takes them. Collective.
  std::string collect();
  /// The elements of the last `collect` as numbers.
  std::vector<double> numbers() const;

private:
  template <class Number> void gather(DType carrier, std::vector<Number> &all);

  Executor *executor;
  const Tensor *tensor;
  std::vector<int64_t> sizes;
  int64_t elements = 1;
  std::vector<double> reals;     ///< of floating-point types
  std::vector<int64_t> integers; ///< of other types
};

} // namespace titan::rt
