#include "BatchReader.h"

#include <algorithm>

namespace titan::rt {

BatchReader::BatchReader(Session &session, const std::string &function)
    : session(session), sequence(session.program().seq) {
  for (const auto &[name, feed] : feeds) {
    const Tensor *tensor = session.find(Role::Input, name, function);
    if (!tensor)
      continue;
    Layout layout = session.layoutOf(tensor->info);
    Target target{feed, session.dataOf(*tensor), layout.localElements(), {}, {}};
    // A stretch of the [batch, seq] tensor may go over several rows.
    layout.forEachRun([&](const Run &run) {
      for (int64_t done = 0; done < run.count;) {
        int64_t column = (run.global + done) % sequence;
        int64_t count = std::min(run.count - done, sequence - column);
        target.pieces.push_back({run.local + done, run.global + done, count});
        done += count;
      }
    });
    if (!session.device().isHost())
      target.copy.resize(static_cast<size_t>(target.elements));
    targets.push_back(std::move(target));
  }
}

void BatchReader::load(const DataSource &data, int64_t firstSample) {
  for (Target &target : targets) {
    bool direct = target.copy.empty();
    int64_t *out = direct ? reinterpret_cast<int64_t *>(target.memory) : target.copy.data();
    for (const Run &piece : target.pieces) {
      int64_t *to = out + piece.local;
      data.row(firstSample + piece.global / sequence, piece.global % sequence, piece.count,
               target.feed, to);
    }
    if (!direct)
      session.device().upload(target.memory, out,
                              target.elements * static_cast<int64_t>(sizeof(int64_t)));
  }
}

} // namespace titan::rt
