#include "NcclGroup.h"

#include "Check.h"

#include "comm/Rendezvous.h"

namespace titan::rt {

namespace {

ncclDataType_t typeOf(DType type) {
  switch (type) {
  case DType::F64:
    return ncclFloat64;
  case DType::F32:
    return ncclFloat32;
  case DType::BF16:
    return ncclBfloat16;
  case DType::I64:
    return ncclInt64;
  case DType::Bool:
    return ncclUint8;
  }
  return ncclUint8;
}

ncclRedOp_t operation(Reduction op) {
  switch (op) {
  case Reduction::Sum:
    return ncclSum;
  case Reduction::Max:
    return ncclMax;
  case Reduction::Min:
    return ncclMin;
  }
  return ncclSum;
}

} // namespace

NcclGroup::NcclGroup(Group &host, cudaStream_t stream)
    : Group(host.ranks(), host.rank()), stream(stream) {
  ncclUniqueId id{};
  if (host.rank() == 0)
    queued(ncclGetUniqueId(&id), "naming a group", {});
  host.broadcast(&id, sizeof(id), DType::Bool, 0, {"connecting devices", ""});
  queued(ncclCommInitRank(&communicator, size(), id, rank()), "connecting devices", {});
}

NcclGroup::~NcclGroup() {
  if (communicator)
    ncclCommAbort(communicator); // never waits for peers that are gone
}

void NcclGroup::queued(ncclResult_t result, const char *operation, Site site) {
  last = site;
  if (result != ncclSuccess)
    throw Fault(describeFailure(*this, operation, site, ncclGetErrorString(result), 0));
}

void NcclGroup::checkPeers() {
  ncclResult_t state = ncclSuccess;
  if (communicator && ncclCommGetAsyncError(communicator, &state) == ncclSuccess &&
      state != ncclSuccess && state != ncclInProgress)
    throw Fault(describeFailure(*this, "a collective", last, ncclGetErrorString(state), 0));
}

void NcclGroup::allReduce(void *data, int64_t count, DType type, Reduction op, Site site) {
  queued(ncclAllReduce(data, data, count, typeOf(type), operation(op), communicator, stream),
         "all_reduce", site);
}

void NcclGroup::allGather(const void *input, void *output, int64_t count, DType type, Site site) {
  queued(ncclAllGather(input, output, count, typeOf(type), communicator, stream), "all_gather",
         site);
}

void NcclGroup::reduceScatter(const void *input, void *output, int64_t count, DType type,
                              Reduction op, Site site) {
  queued(ncclReduceScatter(input, output, count, typeOf(type), operation(op), communicator, stream),
         "reduce_scatter", site);
}

void NcclGroup::allToAll(const void *input, void *output, int64_t count, DType type, Site site) {
  int64_t bytes = count * sizeOf(type);
  queued(ncclGroupStart(), "all_to_all", site);
  for (int peer = 0; peer < size(); ++peer) {
    queued(ncclSend(static_cast<const std::byte *>(input) + peer * bytes, count, typeOf(type), peer,
                    communicator, stream),
           "all_to_all", site);
    queued(ncclRecv(static_cast<std::byte *>(output) + peer * bytes, count, typeOf(type), peer,
                    communicator, stream),
           "all_to_all", site);
  }
  queued(ncclGroupEnd(), "all_to_all", site);
}

void NcclGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  queued(ncclBroadcast(data, data, count, typeOf(type), root, communicator, stream), "broadcast",
         site);
}

void NcclGroup::barrier(Site site) {
  check(cudaStreamSynchronize(stream), "waiting at a barrier");
  (void)site;
}

} // namespace titan::rt
