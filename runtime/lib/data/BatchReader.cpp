#include "BatchReader.h"

#include <algorithm>

namespace titan::rt {

BatchReader::BatchReader(Executor &executor, const std::string &function)
    : executor(executor), sequence(executor.program().seq) {
  for (const auto &[name, feed] : feeds) {
    const Tensor *tensor = executor.find(Role::Input, name, function);
    if (!tensor || !executor.has(*tensor))
      continue;
    ShardLayout layout = executor.layoutOf(tensor->info);
    Target target{feed, executor.dataOf(*tensor), layout.localElements(), {}, {}};
    // A run of the [batch, seq] tensor may span several rows.
    layout.forEachRun([&](const ShardRun &run) {
      for (int64_t done = 0; done < run.count;) {
        int64_t column = (run.global + done) % sequence;
        int64_t count = std::min(run.count - done, sequence - column);
        target.runs.push_back({run.local + done, run.global + done, count});
        done += count;
      }
    });
    if (!executor.device().isHost())
      target.copy.resize(static_cast<size_t>(target.elements));
    targets.push_back(std::move(target));
  }
}

void BatchReader::load(const DataSource &data, int64_t firstSample) {
  for (Target &target : targets) {
    bool direct = target.copy.empty();
    int64_t *out = direct ? reinterpret_cast<int64_t *>(target.memory) : target.copy.data();
    for (const ShardRun &run : target.runs) {
      int64_t *to = out + run.local;
      data.row(firstSample + run.global / sequence, run.global % sequence, run.count, target.feed,
               to);
    }
    if (!direct)
      executor.device().upload(target.memory, out,
                               target.elements * static_cast<int64_t>(sizeof(int64_t)));
  }
}

} // namespace titan::rt
