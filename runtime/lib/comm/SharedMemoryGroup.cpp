#include "SharedMemoryGroup.h"

#include "Bytes.h"
#include "Combine.h"

#include "Rendezvous.h"

#include "base/Error.h"

#include <algorithm>
#include <cstring>

namespace titan::rt {

namespace {

/// Iterates over one member's data in several buffers as over one contiguous buffer. `data` selects
/// input or output. The member's blocks in a buffer are `stride` blocks apart and begin at block
/// `first`.
class Walk {
public:
  Walk(std::span<const CollectiveBuffer> buffers, const void *(*data)(const CollectiveBuffer &),
       int64_t width, int64_t first, int64_t stride)
      : buffers(buffers), data(data), width(width), first(first), stride(stride) {}

  void skip(int64_t bytes) {
    next(bytes, [](std::byte *, int64_t, int64_t) {});
  }
  /// Calls `visit` with each contiguous run of the next `bytes` bytes and with its offset among
  /// them.
  template <typename Visit> void next(int64_t bytes, Visit visit) {
    for (int64_t done = 0; done < bytes;) {
      const CollectiveBuffer &buffer = buffers[index];
      bool isRun = stride == 1; // rows are contiguous
      int64_t run = buffer.block * width * (isRun ? buffer.outer : 1);
      if (row * run >= buffer.outer * buffer.block * width) {
        ++index;
        row = offset = 0;
        continue;
      }
      int64_t length = std::min(run - offset, bytes - done);
      const std::byte *begin =
          at(data(buffer), (row * stride + first) * buffer.block * width + offset);
      visit(const_cast<std::byte *>(begin), done, length);
      done += length;
      offset += length;
      if (offset == run) {
        ++row;
        offset = 0;
      }
    }
  }

private:
  std::span<const CollectiveBuffer> buffers;
  const void *(*data)(const CollectiveBuffer &);
  int64_t width, first, stride;
  size_t index = 0;
  int64_t row = 0, offset = 0;
};

const void *getInput(const CollectiveBuffer &buffer) {
  return buffer.in;
}
const void *getOutput(const CollectiveBuffer &buffer) {
  return buffer.out;
}

} // namespace

size_t SharedMemoryGroup::slotBytes(size_t members) {
  // The slots of all members have at most 16 MiB together, unless that leaves less than 256 KiB
  // each.
  constexpr size_t largest = size_t{2} << 20, ofAllMembers = size_t{16} << 20, page = 4096;
  return std::clamp(ofAllMembers / members / page * page, 64 * page, largest);
}

std::byte *SharedMemoryGroup::half(int member) const {
  return memory->slot(member) + (segment % 2) * halfBytes();
}

void SharedMemoryGroup::meet(const CallSignature &call) {
  auto begin = std::chrono::steady_clock::now();
  SharedMemory::Problem problem = memory->barrier(call, timeout);
  if (problem.text.empty())
    return;
  std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  throw makeFailure(*this, call.operation, call.site, problem.text, waited.count(), problem.peer);
}

void SharedMemoryGroup::reduceHalves(std::byte *out, size_t offset, int64_t count, DType type,
                                     Reduction op) {
  for (int member = 0; member < size(); ++member)
    terms[member] = half(member) + offset;
  combine(out, terms, count, type, op);
}

void SharedMemoryGroup::allReduce(std::span<const CollectiveBuffer> buffers, DType type,
                                  Reduction op, Site site) {
  int64_t width = getByteSize(type), n = size(), count = countElements(buffers);
  const CallSignature call{"all_reduce", site, count * width, type, static_cast<int>(op)};
  Walk in(buffers, getInput, width, 0, 1), out(buffers, getOutput, width, 0, 1);
  // Each member reduces its chunk of a segment into the half that it wrote, after its own data.
  int64_t segmentLength = static_cast<int64_t>(halfBytes()) / width / 2;
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t length = std::min(segmentLength, count - done);
    int64_t chunk = (length + n - 1) / n;
    auto begin = [&](int64_t member) { return std::min(length, member * chunk); };
    int64_t own = begin(rank() + 1) - begin(rank());
    std::byte *result = half(rank()) + segmentLength * width; // after this member's data
    in.next(length * width, [&](const std::byte *data, int64_t offset, int64_t bytes) {
      std::memcpy(half(rank()) + offset, data, bytes);
    });
    meet(call);
    reduceHalves(result, begin(rank()) * width, own, type, op);
    meet(call);
    for (int member = 0; member < n; ++member) {
      const std::byte *reduced = half(member) + segmentLength * width;
      out.next((begin(member + 1) - begin(member)) * width,
               [&](std::byte *data, int64_t offset, int64_t bytes) {
                 std::memcpy(data, reduced + offset, bytes);
               });
    }
    ++segment;
  }
}

void SharedMemoryGroup::allGather(std::span<const CollectiveBuffer> buffers, DType type,
                                  Site site) {
  int64_t width = getByteSize(type), count = countElements(buffers);
  const CallSignature call{"all_gather", site, count * width, type};
  int64_t segmentLength = static_cast<int64_t>(halfBytes()) / width;
  Walk in(buffers, getInput, width, 0, 1);
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t bytes = std::min(segmentLength, count - done) * width;
    in.next(bytes, [&](const std::byte *data, int64_t offset, int64_t run) {
      std::memcpy(half(rank()) + offset, data, run);
    });
    meet(call);
    for (int member = 0; member < size(); ++member) {
      Walk out(buffers, getOutput, width, member, size());
      out.skip(done * width);
      out.next(bytes, [&](std::byte *data, int64_t offset, int64_t run) {
        std::memcpy(data, half(member) + offset, run);
      });
    }
    ++segment;
  }
}

void SharedMemoryGroup::reduceScatter(std::span<const CollectiveBuffer> buffers, DType type,
                                      Reduction op, Site site) {
  int64_t width = getByteSize(type), n = size(), count = countElements(buffers);
  const CallSignature call{"reduce_scatter", site, count * width, type, static_cast<int>(op)};
  int64_t segmentLength = static_cast<int64_t>(halfBytes()) / width / n;
  Walk out(buffers, getOutput, width, 0, 1);
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t length = std::min(segmentLength, count - done);
    for (int64_t member = 0; member < n; ++member) {
      Walk in(buffers, getInput, width, member, n);
      in.skip(done * width);
      in.next(length * width, [&](const std::byte *data, int64_t offset, int64_t bytes) {
        std::memcpy(half(rank()) + member * length * width + offset, data, bytes);
      });
    }
    meet(call);
    out.next(length * width, [&](std::byte *data, int64_t offset, int64_t bytes) {
      reduceHalves(data, rank() * length * width + offset, bytes / width, type, op);
    });
    ++segment;
  }
}

void SharedMemoryGroup::allToAll(const void *input, void *output, int64_t count, DType type,
                                 Site site) {
  int64_t width = getByteSize(type), n = size();
  const CallSignature call{"all_to_all", site, count * width, type};
  int64_t segmentLength = static_cast<int64_t>(halfBytes()) / width / n;
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t bytes = std::min(segmentLength, count - done) * width;
    for (int64_t member = 0; member < n; ++member)
      std::memcpy(half(rank()) + member * bytes, at(input, (member * count + done) * width), bytes);
    meet(call);
    for (int member = 0; member < n; ++member)
      std::memcpy(at(output, (member * count + done) * width), half(member) + rank() * bytes,
                  bytes);
    ++segment;
  }
}

void SharedMemoryGroup::permute(std::span<const CollectiveBuffer> buffers, DType type, Shift shift,
                                Site site) {
  int64_t width = getByteSize(type), count = countElements(buffers);
  const CallSignature call = makeSignature(shift, count * width, type, site);
  const int target = shift.target(rank(), size()), source = shift.source(rank(), size());
  int64_t segmentLength = static_cast<int64_t>(halfBytes()) / width;
  Walk in(buffers, getInput, width, 0, 1), out(buffers, getOutput, width, 0, 1);
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t bytes = std::min(segmentLength, count - done) * width;
    if (target != Shift::kNobody)
      in.next(bytes, [&](const std::byte *data, int64_t offset, int64_t run) {
        std::memcpy(half(rank()) + offset, data, run);
      });
    meet(call);
    if (source != Shift::kNobody)
      out.next(bytes, [&](std::byte *data, int64_t offset, int64_t run) {
        std::memcpy(data, half(source) + offset, run);
      });
    ++segment;
  }
}

void SharedMemoryGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  int64_t width = getByteSize(type), segmentLength = static_cast<int64_t>(halfBytes()) / width;
  const CallSignature call{"broadcast", site, count * width, type, root};
  for (int64_t done = 0; done < count; done += segmentLength) {
    int64_t bytes = std::min(segmentLength, count - done) * width;
    if (rank() == root)
      std::memcpy(half(root), at(data, done * width), bytes);
    meet(call);
    if (rank() != root)
      std::memcpy(at(data, done * width), half(root), bytes);
    ++segment;
  }
}

void SharedMemoryGroup::barrier(Site site) {
  meet({"barrier", site, 0, DType::Bool});
  ++segment;
}

} // namespace titan::rt
