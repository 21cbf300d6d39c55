// An interposer between an emitted program and the runtime: the first run of a function is
// captured, and every run launches the graph. It is linked with a program whose `program()` was
// renamed to `emittedProgram` (emulated.py).
#include "base/Error.h"
#include "titan/runtime/program.h"

#include "cuda_runtime_api.h"

#include <array>
#include <utility>

namespace titan::rt {

Program emittedProgram(const int64_t *degree) asm("emittedProgram");

namespace {

using Run = void (*)(Context &);
constexpr size_t kMostFunctions = 16; // of a program
Run functions[kMostFunctions];
cudaGraphExec_t graphs[kMostFunctions];

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Fault(std::string("capturing a step: ") + cudaGetErrorString(status));
}

cudaGraphExec_t capture(Run run, Context &ctx) {
  auto stream = static_cast<cudaStream_t>(ctx.stream);
  cudaGraph_t graph;
  cudaGraphExec_t result;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  run(ctx);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&result, graph, 0));
  return result;
}

template <size_t i> void launch(Context &ctx) {
  if (ctx.preparing)
    return functions[i](ctx);
  if (!graphs[i])
    graphs[i] = capture(functions[i], ctx);
  check(cudaGraphLaunch(graphs[i], static_cast<cudaStream_t>(ctx.stream)));
}

template <size_t... i>
constexpr std::array<Run, kMostFunctions> makeLaunches(std::index_sequence<i...>) {
  return {launch<i>...};
}

} // namespace

Program program(const int64_t *degree) {
  Program result = emittedProgram(degree);
  if (result.functions.size() > kMostFunctions)
    throw Fault("the program has more functions than this interposer");
  constexpr std::array<Run, kMostFunctions> launched =
      makeLaunches(std::make_index_sequence<kMostFunctions>());
  for (size_t i = 0; i < result.functions.size(); ++i) {
    functions[i] = result.functions.at(i).run;
    result.functions[i].run = launched[i];
  }
  return result;
}

} // namespace titan::rt
