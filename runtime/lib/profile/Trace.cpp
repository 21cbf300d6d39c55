#include "Trace.h"

#include "base/files/DurableFile.h"
#include "flight/FlightRecorder.h"
#include "numbers/NumberWatch.h"
#include "titan/runtime/program.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

constexpr size_t maxMarks = 1 << 20;       // later marks are dropped
constexpr size_t maxCollectives = 1 << 16; // later ones are dropped

// "Threads" of a rank in the trace; Communication is the first of its lanes.
enum Lane { Operations, Loop, Communication };

std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double microseconds(std::chrono::system_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// Microseconds since 2026, with equal origin on all ranks. Readers use doubles, which cannot
/// resolve nanoseconds since 1970, so adjacent spans would overlap.
double timestamp(std::chrono::system_clock::time_point time) {
  constexpr std::chrono::sys_days begin = std::chrono::year(2026) / 1 / 1;
  return microseconds(time - begin);
}

/// `more`: further arguments, each after a comma.
std::string spanText(int rank, int lane, const std::string &name, const std::string &location,
                     std::chrono::system_clock::time_point begin,
                     std::chrono::system_clock::time_point end, const std::string &more = "") {
  return fmt::format(R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
                     R"("name": {}, "args": {{"line": {}{}}}}})",
                     rank, lane, timestamp(begin), microseconds(end - begin), quoted(name),
                     quoted(location), more);
}

std::string nameText(int rank, int lane, const char *kind, const std::string &name) {
  return fmt::format(R"({{"ph": "M", "pid": {}, "tid": {}, "name": "{}", "args": {{"name": {}}}}})",
                     rank, lane, kind, quoted(name));
}

} // namespace

void trace(Context &ctx, const char *location, const char *action) {
  ctx.location = location;
  if (ctx.numbers)
    ctx.numbers->finish();
  ctx.action = action;
  if (ctx.trace)
    ctx.trace->mark(location, action);
  if (ctx.flight && !ctx.preparing)
    ctx.flight->recordOperation(location, action);
}

Trace::Trace(Device &device, int rank) : device(device), rank(rank) {
  marks.reserve(maxMarks);
  collectives.reserve(maxCollectives);
}

void Trace::mark(const char *location, const char *action) {
  if (!device.isHost())
    device.synchronize();
  if (marks.size() < maxMarks)
    marks.push_back({Clock::now(), location, action});
}

void Trace::span(const char *name, Clock::time_point begin) {
  spans.push_back({begin, Clock::now(), name});
}

void Trace::collective(int lane, const char *location, const char *action,
                       Clock::time_point started, Clock::time_point begin) {
  std::lock_guard lock(mutex);
  if (collectives.size() < maxCollectives)
    collectives.push_back({lane, started, begin, Clock::now(), location, action});
}

void Trace::write(const std::string &path) const {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  text += nameText(rank, Operations, "process_name", fmt::format("rank {}", rank)) + ",\n";
  text += nameText(rank, Operations, "thread_name", "operations") + ",\n";
  text += nameText(rank, Loop, "thread_name", "training loop") + ",\n";
  int lanes = 1;
  for (const CollectiveSpan &each : collectives)
    lanes = std::max(lanes, each.lane + 1);
  for (int lane = 0; lane < lanes; ++lane)
    text += (lane ? ",\n" : "") +
            nameText(rank, Communication + lane, "thread_name",
                     lane ? fmt::format("communication {}", lane + 1) : "communication");
  auto operation = [](const auto &event) {
    return fmt::format("{} {}", event.location, event.action);
  };
  for (size_t i = 0; i + 1 < marks.size(); ++i)
    if (const Mark &mark = marks[i]; *mark.location)
      text += ",\n" + spanText(rank, Operations, operation(mark), mark.location, mark.time,
                               marks[i + 1].time);
  for (const CollectiveSpan &each : collectives)
    text += ",\n" + spanText(rank, Communication + each.lane, operation(each), each.location,
                             each.begin, each.end,
                             fmt::format(R"(, "started": {:.3f})", timestamp(each.started)));
  for (const Span &span : spans)
    text += ",\n" + spanText(rank, Loop, span.name, "", span.begin, span.end);
  writeFileAtomically(path, text + "\n]}\n", Sync::No);
}

} // namespace titan::rt
