// Coalesced collectives, synchronous and in the background, on buffers with known results.
#pragma once

#include "collectives/LaneThread.h"

#include <cstring>
#include <functional>
#include <vector>

namespace titan::test {

using namespace titan;
using namespace titan::rt;

/// Buffers in host memory for values that are packed into one message.
class HostStaging final : public Staging {
public:
  std::byte *packed(int64_t bytes) override { return grow(first, bytes); }
  std::byte *received(int64_t bytes) override { return grow(second, bytes); }
  void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                  int64_t rows, int64_t bytes) override {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(to + row * toStride, from + row * fromStride, static_cast<size_t>(bytes));
  }

private:
  static std::byte *grow(std::vector<std::byte> &area, int64_t bytes) {
    area.resize(std::max(area.size(), static_cast<size_t>(bytes)));
    return area.data();
  }
  std::vector<std::byte> first, second;
};

/// A tensor of `outer` rows with `block` elements per member.
struct Value {
  int64_t outer, block;
  std::vector<double> shard, whole; ///< a shard, and the gathered tensor
};

/// Rank r's element j of row i of member m's block of tensor v; sums are exact.
inline double element(int64_t v, int64_t i, int64_t m, int64_t j, int64_t r) {
  return static_cast<double>(v * 1000 + i * 100 + m * 10 + j % 7 + r * 10000);
}

/// Fills inputs, executes the call by `run` and returns the number of wrong elements. The blocks of
/// the members are in this order.
inline int64_t checkKind(Group &group, CollectiveCall::Kind kind,
                         const std::function<void(const CollectiveCall &)> &run,
                         ShardOrder order = ShardOrder::Block) {
  int64_t n = group.size(), me = group.rank(), wrong = 0;
  std::vector<Value> values{{1, 3, {}, {}}, {5, 2, {}, {}}, {1, 140001, {}, {}}, {3, 1, {}, {}}};
  for (Value &value : values)
    value.block += order == ShardOrder::HeadTail ? value.block % 2 : 0;
  auto getPosition = [&](const Value &value, int64_t i, int64_t m, int64_t j) {
    return i * n * value.block + getShard(n * value.block, {{n, m, order}}).toGlobal(j);
  };
  bool gathers = kind == CollectiveCall::AllGather, reduces = kind == CollectiveCall::AllReduce;
  CollectiveCall call{kind, &group, DType::F64, Reduction::Sum, {"exchange", "test:9"}, {}};
  for (int64_t v = 0; v < 4; ++v) {
    Value &value = values[v];
    value.shard.resize(value.outer * value.block);
    value.whole.resize(value.shard.size() * n);
    for (int64_t i = 0; i < value.outer; ++i)
      for (int64_t j = 0; j < value.block; ++j) {
        value.shard[i * value.block + j] = gathers || reduces ? element(v, i, 0, j, me) : -1;
        for (int64_t m = 0; m < n; ++m)
          value.whole[getPosition(value, i, m, j)] = gathers ? -1 : element(v, i, m, j, me);
      }
    if (gathers || reduces)
      call.buffers.push_back({value.shard.data(), gathers ? value.whole.data() : value.shard.data(),
                              value.outer, value.block});
    else
      call.buffers.push_back({value.whole.data(), value.shard.data(), value.outer, value.block});
    call.buffers.back().order = order;
  }
  run(call);
  for (int64_t v = 0; v < 4; ++v)
    for (int64_t i = 0; i < values[v].outer; ++i)
      for (int64_t j = 0; j < values[v].block; ++j) {
        double sum = 0;
        for (int64_t m = 0; m < n; ++m) {
          sum += element(v, i, gathers || reduces ? 0 : me, j, m);
          double got = values[v].whole[getPosition(values[v], i, m, j)];
          wrong += gathers && got != element(v, i, 0, j, m);
        }
        wrong += !gathers && values[v].shard[i * values[v].block + j] != sum;
      }
  return wrong;
}

/// Exchanges tensors [rows, member, block], which become [rowsOut, member, blockOut], and returns
/// the number of wrong elements.
inline int64_t checkAllToAll(Group &group, const std::function<void(const CollectiveCall &)> &run) {
  struct Shape {
    int64_t rows, block, rowsOut, blockOut;
  };
  const std::vector<Shape> shapes = {{1, 6, 1, 6}, {4, 3, 2, 6}, {2, 50000, 1, 100000}};
  const int64_t n = group.size();
  // Element i of what member `from` sends to member `to`.
  auto value = [](int64_t v, int64_t from, int64_t to, int64_t i) {
    return static_cast<double>(v * 1000003 + from * 5003 + to * 301 + i % 251);
  };
  std::vector<std::vector<double>> in, out;
  for (int64_t v = 0; v < 3; ++v) {
    const auto &[rows, block, rowsOut, blockOut] = shapes[v];
    in.emplace_back(n * rows * block);
    out.emplace_back(n * rows * block, -1);
    for (int64_t i = 0; i < rows * block; ++i)
      for (int64_t to = 0; to < n; ++to)
        in[v][(i / block * n + to) * block + i % block] = value(v, group.rank(), to, i);
  }
  int64_t wrong = 0;
  auto check = [&](int64_t begin, int64_t end) {
    CollectiveCall call{CollectiveCall::AllToAll, &group, DType::F64, Reduction::Sum,
                        {"all_to_all", "test:9"}, {}};
    for (int64_t v = begin; v < end; ++v)
      call.buffers.push_back({in[v].data(), out[v].data(), shapes[v].rows, shapes[v].block,
                              shapes[v].rowsOut, shapes[v].blockOut});
    run(call);
    for (int64_t v = begin; v < end; ++v) {
      const int64_t block = shapes[v].blockOut;
      for (int64_t i = 0; i < shapes[v].rowsOut * block; ++i)
        for (int64_t from = 0; from < n; ++from)
          wrong +=
              out[v][(i / block * n + from) * block + i % block] != value(v, from, group.rank(), i);
    }
  };
  check(0, 3);
  for (int64_t v = 0; v < 3; ++v)
    check(v, v + 1);
  return wrong;
}

/// Permutes tensors by several shifts and returns the number of wrong elements. A member without a
/// source keeps its output.
inline int64_t checkPermute(Group &group, const std::function<void(const CollectiveCall &)> &run) {
  const std::vector<int64_t> counts = {5, 700001, 1};
  const int size = group.size();
  int64_t wrong = 0;
  for (Shift shift : {Shift{1}, Shift{-1}, Shift{size}, Shift{2}, Shift{1, false}, Shift{-1, false},
                      Shift{size, false}}) {
    std::vector<std::vector<double>> in, out;
    CollectiveCall call{CollectiveCall::Permute, &group, DType::F64, Reduction::Sum,
                        {"permute", "test:9"},   {},     shift};
    for (int64_t count : counts) {
      in.emplace_back(count);
      for (int64_t j = 0; j < count; ++j)
        in.back()[j] = element(count % 10, 0, 0, j, group.rank());
      out.emplace_back(count, -1);
    }
    for (size_t v = 0; v < counts.size(); ++v)
      call.buffers.push_back({in[v].data(), out[v].data(), 1, counts[v]});
    run(call);
    const int source = shift.source(group.rank(), size);
    for (size_t v = 0; v < counts.size(); ++v)
      for (int64_t j = 0; j < counts[v]; ++j)
        wrong +=
            out[v][j] != (source == Shift::kNobody ? -1 : element(counts[v] % 10, 0, 0, j, source));
  }
  return wrong;
}

/// Gathers small and large tensors of bf16 that are `apart` elements further apart than in a
/// coalesced message. The bits of an element identify tensor and member. Returns the number of
/// wrong elements.
inline int64_t checkBucket(Group &group, int64_t apart,
                           const std::function<void(const CollectiveCall &)> &run) {
  const std::vector<int64_t> blocks = {5, 64, 0, 300001, 1, 900000, 7, 900000, 2, 3};
  auto element = [](int64_t v, int64_t m, int64_t j) {
    return static_cast<uint16_t>((j * 31 + v * 7 + m) & 0x7FFF);
  };
  std::vector<int64_t> begins;
  int64_t end = 0;
  for (int64_t block : blocks) {
    begins.push_back(end);
    end += (block + 31) / 32 * 32 + apart;
  }
  std::vector<uint16_t> own(end);
  std::vector<std::vector<uint16_t>> whole;
  CollectiveCall call{CollectiveCall::AllGather, &group, DType::BF16, Reduction::Sum,
                      {"bucket", "test:9"},      {}};
  for (size_t v = 0; v < blocks.size(); ++v) {
    for (int64_t j = 0; j < blocks[v]; ++j)
      own[begins[v] + j] = element(v, group.rank(), j);
    whole.emplace_back(blocks[v] * group.size() + 1); // no empty vector
  }
  for (size_t v = 0; v < blocks.size(); ++v)
    call.buffers.push_back({own.data() + begins[v], whole[v].data(), 1, blocks[v]});
  run(call);
  int64_t wrong = 0;
  for (size_t v = 0; v < blocks.size(); ++v)
    for (int64_t m = 0; m < group.size(); ++m)
      for (int64_t j = 0; j < blocks[v]; ++j)
        wrong += whole[v][m * blocks[v] + j] != element(v, m, j);
  return wrong;
}

/// The number of wrong elements of all kinds of collectives, synchronous and in the background.
inline int64_t checkCollectives(Group &group) {
  HostStaging staging;
  int64_t wrong = 0;
  constexpr CollectiveCall::Kind kinds[] = {
      CollectiveCall::AllGather, CollectiveCall::ReduceScatter, CollectiveCall::AllReduce};
  auto synchronously = [&](const CollectiveCall &e) { execute(e, staging); };
  for (CollectiveCall::Kind kind : kinds)
    for (ShardOrder order : {ShardOrder::Block, ShardOrder::HeadTail})
      wrong += checkKind(group, kind, synchronously, order);
  for (int64_t apart : {0, 32, 5})
    wrong += checkBucket(group, apart, synchronously);
  wrong += checkAllToAll(group, synchronously) + checkPermute(group, synchronously);
  LaneThread background(staging);
  for (int round = 0; round < 3; ++round)
    for (CollectiveCall::Kind kind : kinds)
      wrong += checkKind(group, kind, [&](const CollectiveCall &e) {
        // More calls than slots. Gathers may repeat on one buffer, reductions may not.
        uint64_t last = 0;
        if (kind == CollectiveCall::AllGather && round == 0)
          for (int i = 0; i < 50; ++i)
            last = background.start(e);
        last = background.start(e);
        background.waitFor(last);
      });
  auto inBackground = [&](const CollectiveCall &e) { background.waitFor(background.start(e)); };
  wrong += checkAllToAll(group, inBackground) + checkPermute(group, inBackground);
  return wrong;
}

} // namespace titan::test
