#include "BatchReader.h"

#include "base/Error.h"

#include <algorithm>

namespace titan::rt {

namespace {

std::vector<const Tensor *> listInputTensors(const Program &program, const std::string &function) {
  std::vector<const Tensor *> inputs;
  for (const Tensor &tensor : program.tensors)
    if (tensor.role == Role::Input && tensor.function == function)
      inputs.push_back(&tensor);
  return inputs;
}

/// The specification of an input. Its shape is that of one sample: the dimensions after that of the
/// samples. (If the step has microbatches, theirs is before that of the samples.) Inputs have no
/// padding.
InputSpec getInputSpec(const Program &program, const Tensor &tensor) {
  const std::vector<Dim> &dims = tensor.info.dims;
  auto samples = std::find_if(dims.begin(), dims.end(),
                              [&](const Dim &dim) { return dim.name == program.dims.samples; });
  if (samples == dims.end())
    throw Fault("the input '" + tensor.name + "' of the program has no samples");
  InputSpec spec{tensor.name, tensor.info.dtype, {}, tensor.indexRange};
  for (auto dim = samples + 1; dim != dims.end(); ++dim)
    spec.shape.push_back(dim->size);
  return spec;
}

} // namespace

std::vector<InputSpec> getInputSpecs(const Program &program, const std::string &function) {
  std::vector<InputSpec> specs;
  for (const Tensor *tensor : listInputTensors(program, function))
    specs.push_back(getInputSpec(program, *tensor));
  return specs;
}

BatchReader::BatchReader(Executor &executor, const std::string &function,
                         const std::vector<InputSpec> &opened)
    : executor(executor) {
  for (const Tensor *tensor : listInputTensors(executor.program(), function)) {
    if (!executor.has(*tensor))
      continue;
    auto input = std::find_if(opened.begin(), opened.end(),
                              [&](const InputSpec &spec) { return spec.name == tensor->name; });
    targets.push_back(makeTarget(*tensor, static_cast<size_t>(input - opened.begin())));
  }
}

BatchReader::Target BatchReader::makeTarget(const Tensor &tensor, size_t input) const {
  int64_t perSample = 1;
  for (int64_t size : getInputSpec(executor.program(), tensor).shape)
    perSample *= size;
  const ShardLayout layout = executor.getLayout(tensor.info);
  Target target{input,
                perSample,
                executor.getData(tensor),
                layout.localElements(),
                getByteSize(tensor.info.dtype),
                {}};
  // A run of the tensor may span several samples.
  layout.forEachRun([&](const ShardRun &run) {
    for (int64_t done = 0; done < run.count;) {
      const int64_t within = (run.global + done) % perSample;
      const int64_t count = std::min(run.count - done, perSample - within);
      target.runs.push_back({run.local + done, run.global + done, count});
      done += count;
    }
  });
  return target;
}

Batch BatchReader::makeBatch() const {
  Batch batch;
  for (const Target &target : targets)
    batch.emplace_back(static_cast<size_t>(target.elements * target.bytes));
  return batch;
}

void BatchReader::read(const DataSource &data, int64_t firstSample,
                       std::span<std::vector<std::byte>> batch, int64_t lastSample) const {
  for (size_t i = 0; i < targets.size(); ++i) {
    const Target &target = targets[i];
    for (const ShardRun &run : target.runs)
      data.read(std::min(firstSample + run.global / target.perSample, lastSample), target.input,
                run.global % target.perSample, run.count,
                batch[i].data() + run.local * target.bytes);
  }
}

void BatchReader::load(std::span<const std::vector<std::byte>> batch) {
  for (size_t i = 0; i < targets.size(); ++i)
    executor.device().upload(targets[i].memory, batch[i].data(),
                             static_cast<int64_t>(batch[i].size()));
}

} // namespace titan::rt
