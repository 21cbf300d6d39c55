// Streams, events, copies and fills of the emulated CUDA runtime (README.md).
#include "Streams.h"
#include "Capture.h"
#include "Memory.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

struct CUevent_st {
  cudaStream_t stream = nullptr; // null: never recorded
  uint64_t number = 0;
  bool wasAsked = false;
};

namespace cuda_host {

namespace {

std::map<const std::byte *, std::vector<std::byte>> pinned;

} // namespace

/// From pageable memory, CUDA copies before the call returns; page-locked memory is read when the
/// copy runs.
bool isPinned(const void *address) {
  auto *at = static_cast<const std::byte *>(address);
  auto block = pinned.upper_bound(at);
  return block != pinned.begin() && at < (--block)->first + block->second.size();
}

namespace {

CUstream_st defaultStream; // our streams do not block on it
std::set<CUstream_st *> streams{&defaultStream};
cudaError_t lastError = cudaSuccess;

CUstream_st &getStream(cudaStream_t stream) {
  return stream ? *stream : defaultStream;
}

void runFirst(CUstream_st &stream) {
  auto work = std::move(stream.work.front());
  stream.work.pop_front();
  stream.isBusy = true;
  work.run();
  stream.isBusy = false;
  ++stream.finished;
}
void finish(CUstream_st &stream, uint64_t number) {
  OnDevice here;
  while (stream.finished < number)
    runFirst(stream);
}
void finish(CUstream_st &stream) {
  finish(stream, stream.queued);
}

void copyRows(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
              size_t height) {
  for (size_t row = 0; row < height; ++row) {
    auto *target = static_cast<std::byte *>(to) + row * toPitch;
    auto *source = static_cast<const std::byte *>(from) + row * fromPitch;
    checkRead(source, width, "a copy");
    checkWrite(target, width, "a copy");
    std::memcpy(target, source, width);
    markWritten(target, width);
  }
}

} // namespace

void queueWork(cudaStream_t stream, std::function<void()> work, std::function<bool()> isReady) {
  if (isCaptured(stream))
    return captureWork(stream, std::move(work));
  getStream(stream).work.push_back({std::move(work), std::move(isReady)});
  getStream(stream).wasAsked = false;
  ++getStream(stream).queued;
}

void queueWait(cudaStream_t stream, cudaStream_t other, uint64_t number) {
  if (isCapturing())
    return captureWait(stream, other, number);
  queueWork(
      stream, [=] { finishUntil(other, number); }, [=] { return lastFinished(other) >= number; });
}

void progressOthers() {
  for (CUstream_st *stream : streams)
    while (stream->progresses && !stream->isBusy && !stream->work.empty() &&
           (!stream->work.front().isReady || stream->work.front().isReady()))
      runFirst(*stream);
}

uint64_t lastQueued(cudaStream_t stream) {
  return isCaptured(stream) ? lastCaptured(stream) : getStream(stream).queued;
}
uint64_t lastFinished(cudaStream_t stream) {
  return getStream(stream).finished;
}
void finishUntil(cudaStream_t stream, uint64_t number) {
  finish(getStream(stream), number);
}

void setLastError(cudaError_t error) {
  lastError = error;
}

} // namespace cuda_host

using namespace cuda_host;

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorInvalidConfiguration:
    return "invalid configuration argument";
  case cudaErrorNotReady:
    return "device not ready";
  case cudaErrorStreamCaptureUnsupported:
    return "operation not permitted when stream is capturing";
  case cudaErrorStreamCaptureInvalidated:
    return "operation failed due to a previous error during capture";
  case cudaErrorStreamCaptureUnjoined:
    return "capturing stream has unjoined work";
  default:
    return "invalid argument";
  }
}

cudaError_t cudaGetLastError() {
  return std::exchange(lastError, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 8;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *index) {
  *index = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = 9; // an H100
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {"a processor"};
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  if (cudaError_t error = forbidWhileCapturing("cudaMalloc"))
    return error;
  *memory = allocate(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *memory) {
  if (cudaError_t error = forbidWhileCapturing("cudaFree"))
    return error;
  for (CUstream_st *stream : streams)
    finish(*stream);
  if (memory)
    release(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  if (cudaError_t error = forbidWhileCapturing("cudaMallocHost"))
    return error;
  std::vector<std::byte> block(bytes);
  *memory = block.data();
  pinned.emplace(block.data(), std::move(block));
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
  pinned.erase(static_cast<std::byte *>(memory));
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = kDeviceBytes;
  *free = kDeviceBytes - bytesInUse();
  return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  if (cudaError_t error = forbidWhileCapturing("cudaMemset"))
    return error;
  return cudaMemsetAsync(to, byte, bytes, nullptr); // the host does not wait for it
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
  queueWork(stream, [=] {
    checkWrite(to, bytes, "a fill");
    std::memset(to, byte, bytes);
    markWritten(to, bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (isDevice(to) != (kind != cudaMemcpyDeviceToHost) ||
      isDevice(from) != (kind != cudaMemcpyHostToDevice))
    return cudaErrorInvalidValue;
  if (kind == cudaMemcpyDeviceToDevice)
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
  if (cudaError_t error = forbidWhileCapturing("a copy from or to the host"))
    return error;
  if (kind == cudaMemcpyHostToDevice && isPinned(from)) {
    queueWork(stream, [=] {
      checkWrite(to, bytes, "a copy");
      std::memcpy(to, from, bytes);
      markWritten(to, bytes);
    });
    return cudaSuccess;
  }
  if (kind == cudaMemcpyHostToDevice) {
    auto *host = static_cast<const std::byte *>(from);
    queueWork(stream, [=, copied = std::vector<std::byte>(host, host + bytes)] {
      checkWrite(to, bytes, "a copy");
      std::memcpy(to, copied.data(), bytes);
      markWritten(to, bytes);
    });
    return cudaSuccess;
  }
  finish(getStream(stream)); // and written before it returns
  OnDevice here;
  checkRead(from, bytes, "a copy to the host");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (kind != cudaMemcpyDeviceToDevice || !isDevice(to) || !isDevice(from) || toPitch < width ||
      fromPitch < width)
    return cudaErrorInvalidValue;
  queueWork(stream, [=] { copyRows(to, toPitch, from, fromPitch, width, height); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking)
    fail("streams that block others are not emulated");
  streams.insert(*stream = new CUstream_st);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  finish(*stream);
  streams.erase(stream);
  delete stream;
  return cudaSuccess;
}

/// The first query finds work in progress, the second finds it complete.
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  if (cudaError_t error = forbidWhileCapturing("cudaStreamQuery"))
    return error;
  CUstream_st &stream = getStream(handle);
  if (stream.work.empty())
    return cudaSuccess;
  if (!std::exchange(stream.wasAsked, true))
    return lastError = cudaErrorNotReady;
  finish(stream);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  *event = {stream, lastQueued(stream)};
  return cudaSuccess;
}

/// As for streams, the first query finds work in progress, the second finds it complete.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (cudaError_t error = forbidWhileCapturing("cudaEventQuery"))
    return error;
  if (!event->stream || lastFinished(event->stream) >= event->number)
    return cudaSuccess;
  if (!std::exchange(event->wasAsked, true))
    return lastError = cudaErrorNotReady;
  finishUntil(event->stream, event->number);
  return cudaSuccess;
}
