// Runs every function of an emitted file once. Inputs come from the files FOLDER/PROGRAM.INPUT.in,
// or from the start of FOLDER/INPUT.in; outputs go to FOLDER/PROGRAM.OUTPUT.out. On the emulated
// device, nothing may run before the host waits, and setting inputs must not wait. With
// TITAN_ON_PROCESSOR, programs are for the CPU.
#include "device/Device.h"
#include "state/Arena.h"

#include "launch/Launch.h"

#ifndef TITAN_ON_PROCESSOR
#include "Streams.h"
#endif

#include <cstdio>
#include <fstream>

using namespace titan;
using namespace titan::rt;

namespace {

int64_t getByteSize(const TensorInfo &info) {
  int64_t bytes = getByteSize(info.dtype);
  for (const Dim &dim : info.dims)
    bytes *= dim.size;
  return bytes;
}

std::string getFilePath(const std::string &folder, const Tensor &tensor, const char *ending) {
  return folder + "/" + tensor.function + "." + tensor.name + ending;
}

/// The completed work of a stream.
uint64_t getLastFinished([[maybe_unused]] void *stream) {
#ifdef TITAN_ON_PROCESSOR
  return 0;
#else
  return cuda_host::lastFinished(static_cast<cudaStream_t>(stream));
#endif
}

class Runner {
public:
  Runner(const Program &program, std::string folder)
      : program(program), folder(std::move(folder)), device(makeDevice(LaunchInfo())),
        arena(program, Pipelines(pipelineTable(program), std::span<const int64_t>(), {}), *device) {
  }

  void run(size_t index) {
    Context ctx;
    ctx.arena = arena.base();
    ctx.persistent = arena.persistent().data();
    ctx.transient = arena.transient(index).data();
    ctx.stream = device->stream();
    ctx.badIndex = device->badIndex();
    const uint64_t before = getLastFinished(ctx.stream);
    each(index, Role::Input, [&](const Tensor &tensor, std::byte *data) { load(tensor, data); });
    program.functions[index].run(ctx);
    if (getLastFinished(ctx.stream) != before)
      throw std::runtime_error(program.functions[index].name + " waits for the device");
    each(index, Role::Output, [&](const Tensor &tensor, std::byte *data) { save(tensor, data); });
  }

private:
  template <typename Do> void each(size_t index, Role role, Do action) {
    for (const Tensor &tensor : program.tensors)
      if (tensor.role == role && tensor.function == program.functions[index].name)
        action(tensor, arena.base() + arena.transient(index)[tensor.allocation]);
  }

  void load(const Tensor &tensor, std::byte *data) {
    std::string name = getFilePath(folder, tensor, ".in");
    std::ifstream file(name, std::ios::binary);
    const bool isOwn = file.is_open();
    if (!isOwn)
      file.open(name = folder + "/" + tensor.name + ".in", std::ios::binary);
    std::string bytes(static_cast<size_t>(getByteSize(tensor.info)), '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
        (isOwn && file.peek() != std::ifstream::traits_type::eof()))
      throw std::runtime_error(name + " has another size");
    device->upload(data, bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  void save(const Tensor &tensor, const std::byte *data) {
    std::string bytes(getByteSize(tensor.info), '\0');
    device->download(bytes.data(), data, static_cast<int64_t>(bytes.size()));
    std::ofstream(getFilePath(folder, tensor, ".out"), std::ios::binary) << bytes;
  }

  const Program &program;
  std::string folder;
  std::unique_ptr<Device> device;
  Arena arena;
};

} // namespace

int main(int count, char **arguments) {
  try {
    const int64_t degrees[] = {1};
    const Program whole = program(degrees);
    Runner runner(whole, count > 1 ? arguments[1] : ".");
    for (size_t i = 0; i < whole.functions.size(); ++i)
      runner.run(i);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
