// What the division of a collective and its products into chunks saves.

#include "dialects/dist/Analysis/ChunkTime.h"

#include "dialects/dist/Analysis/AttentionTime.h"

#include <algorithm>

double titan::dist::estimateSavedSeconds(const ChunkSizes &sizes, int64_t count) {
  const auto n = static_cast<double>(count);
  const double message = sizes.bytesSent / n / kBytesPerSecond;
  const double product = sizes.flops / n / kProductFlopsPerSecond;
  const double hidden = (n - 1) * std::min(message, product);
  return hidden - (n - 1) * kMessageSeconds - sizes.copiedBytes / kCopyBytesPerSecond;
}
