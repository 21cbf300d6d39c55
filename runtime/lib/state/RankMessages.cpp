#include "RankMessages.h"

namespace titan::rt {

namespace {

/// The widest type such that `bytes` is a whole number of its elements.
DType chooseWord(int64_t bytes) {
  for (DType type : {DType::I64, DType::F32, DType::BF16})
    if (bytes % getByteSize(type) == 0)
      return type;
  return DType::Bool;
}

} // namespace

RankMessages::RankMessages(const Program &program, const Pipelines &pipelines, const Arena &arena,
                           Collectives &collectives, Device &device)
    : program(program), arena(arena), axis(pipelines.axis()),
      lanes(collectives.getWorld(), collectives.getMesh(), device) {
  std::vector<MessageRoute> routes;
  for (int offset : pipelines.getMessageOffsets())
    routes.push_back({{axis}, offset});
  lanes.connect(routes);
  context.collectives = &lanes;
  context.stream = device.stream();
}

void RankMessages::start(const Message &message, int number) {
  const size_t index = static_cast<size_t>(message.allocation);
  const int64_t bytes = program.persistent[index].bytes;
  const DType word = chooseWord(bytes);
  std::byte *data =
      arena.base() + arena.persistent()[index] + message.slot * arena.copyStride(index);
  const GroupRef route{&axis, 1};
  if (message.isSend)
    send(context, route, word, message.offset, data, bytes / getByteSize(word), number);
  else
    receive(context, route, word, message.offset, data, bytes / getByteSize(word), number);
}

void RankMessages::finish(int number) {
  rt::finish(context, number);
}

} // namespace titan::rt
