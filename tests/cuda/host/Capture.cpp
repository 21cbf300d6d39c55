// Stream capture and graphs of the emulated CUDA runtime.
#include "Capture.h"
#include "Memory.h"
#include "Streams.h"

#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

/// Captured work in the order of capture, in which work comes after all work that it waits for.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};

namespace cuda_host {

namespace {

/// The captured work of a stream: its amount, and how much of it the first stream waits for.
struct Branch {
  uint64_t captured = 0, joined = 0;
};

struct Capture {
  cudaStream_t first; // the stream on which the capture began
  std::map<cudaStream_t, Branch> branches;
  CUgraph_st graph;
  bool isLost = false;
};
std::optional<Capture> current;

} // namespace

bool isCapturing() {
  return current.has_value();
}
bool isCaptured(cudaStream_t stream) {
  return current && current->branches.count(stream);
}
uint64_t lastCaptured(cudaStream_t stream) {
  return current->branches.at(stream).captured;
}

void captureWork(cudaStream_t stream, std::function<void()> work) {
  ++current->branches.at(stream).captured;
  current->graph.work.push_back(std::move(work));
}

/// A stream that waits for a captured one is captured from then on.
void captureWait(cudaStream_t stream, cudaStream_t other, uint64_t number) {
  if (!isCaptured(other))
    fail("a captured step waits for work of another one, or has work that it does not capture");
  current->branches[stream];
  if (stream == current->first)
    current->branches.at(other).joined = number;
}

cudaError_t forbidWhileCapturing(const char *call) {
  if (!current)
    return cudaSuccess;
  std::fprintf(stderr, "cuda host: while a stream is captured: %s\n", call);
  current->isLost = true;
  return cudaErrorStreamCaptureUnsupported;
}

} // namespace cuda_host

using namespace cuda_host;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (current || !stream)
    return cudaErrorStreamCaptureUnsupported;
  current = {stream, {{stream, {}}}, {}};
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (!current || current->first != stream)
    return cudaErrorInvalidValue;
  const Capture done = *std::exchange(current, std::nullopt);
  if (done.isLost)
    return cudaErrorStreamCaptureInvalidated;
  for (auto [each, branch] : done.branches)
    if (each != stream && branch.joined < branch.captured)
      return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st(done.graph);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  *status = isCaptured(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraph_st(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  queueWork(stream, [graph] {
    for (const std::function<void()> &work : graph->work)
      work();
  });
  return cudaSuccess;
}
