#include "base/prediction/FunctionTime.h"

#include "base/Error.h"
#include "base/prediction/KernelTime.h"

#include <algorithm>
#include <limits>

namespace titan {
namespace {

class Simulator {
public:
  Simulator(const Device &device, const Mesh &mesh, const Machine &machine)
      : device(device), mesh(mesh), machine(machine) {}

  void run(const StepItems &items) {
    for (const StepItem &item : items)
      std::visit([&](const auto &what) { run(item, what); }, item.what);
  }

  FunctionTime take() {
    time.seconds = now;
    return std::move(time);
  }

private:
  struct Lane {
    double end = 0, stolen = 0;
  };

  void run(const StepItem &item, const StepKernel &kernel) {
    if (device.isCuda)
      now = std::max(now, launched += device.launch);
    else
      now += device.launch;
    const double begin = now;
    now = runBeside(getKernelSeconds(kernel.work, device));
    time.spans.push_back({{}, &item, begin, now});
  }

  void run(const StepItem &item, const StepCollective &collective) {
    const CollectiveTime cost = getCollectiveTime(collective.work, mesh, machine);
    Lane &lane = lanes[collective.work.axes];
    const double begin = std::max(now, lane.end);
    lane = {begin + cost.seconds, cost.stolen};
    const bool isAwaited = collective.channel < 0;
    time.spans.push_back(
        {collective.work.axes, &item, begin, lane.end, isAwaited ? lane.end - now : 0});
    if (isAwaited)
      now = lane.end;
    else
      channels[collective.channel] = {lane.end, time.spans.size() - 1};
  }

  void run(const StepItem &, const StepWait &wait) {
    auto found = channels.find(wait.channel);
    if (found == channels.end())
      throw Fault("a step waits for channel " + std::to_string(wait.channel) +
                  ", which no collective started");
    const double waited = std::max(0.0, found->second.end - now);
    time.spans[found->second.span].waited += waited;
    waits.emplace_back(found->second.span, waited);
    now = std::max(now, found->second.end);
  }

  void run(const StepItem &, const StepLoop &loop) {
    for (const StepLoop::Body &body : loop.bodies)
      runBody(body);
  }

  void runBody(const StepLoop::Body &body) {
    constexpr int64_t maxSimulated = 256;
    for (int64_t i = 0; i + 1 < std::min(body.count, maxSimulated); ++i)
      run(body.items);
    const double begin = now;
    const size_t firstSpan = time.spans.size(), firstWait = waits.size();
    run(body.items);
    if (body.count > maxSimulated)
      skip(firstSpan, firstWait, static_cast<double>(body.count - maxSimulated), now - begin);
  }

  /// Lets the iteration of the spans and waits from these numbers on stand for `count` more.
  void skip(size_t firstSpan, size_t firstWait, double count, double seconds) {
    for (size_t i = firstSpan; i < time.spans.size(); ++i)
      time.spans[i].times *= count + 1;
    // An iteration may wait for a collective that the one before it started.
    for (size_t i = firstWait; i < waits.size(); ++i)
      if (auto [span, waited] = waits[i]; span < firstSpan)
        time.spans[span].waited += count * waited;
    now += count * seconds;
    launched += count * seconds;
    for (auto &[axes, lane] : lanes)
      lane.end += count * seconds;
    for (auto &[number, channel] : channels)
      channel.end += count * seconds;
  }

  /// The end of a kernel that would take `seconds` alone.
  double runBeside(double seconds) const {
    double end = now;
    while (true) {
      double stolen = 0, change = std::numeric_limits<double>::infinity();
      for (const auto &[axes, lane] : lanes)
        if (lane.end > end) {
          stolen = std::max(stolen, lane.stolen);
          change = std::min(change, lane.end);
        }
      if (stolen == 0 || (change - end) * (1 - stolen) >= seconds)
        return end + seconds / (1 - stolen);
      seconds -= (change - end) * (1 - stolen);
      end = change;
    }
  }

  struct Channel {
    double end;
    size_t span;
  };

  const Device &device;
  const Mesh &mesh;
  const Machine &machine;
  double now = 0;
  double launched = 0; ///< when the host has launched the last kernel
  std::map<std::vector<int>, Lane> lanes;
  std::map<int64_t, Channel> channels;
  std::vector<std::pair<size_t, double>> waits; ///< the span that was waited for, and the seconds
  FunctionTime time;
};

} // namespace

FunctionTime simulateFunction(const StepItems &items, const Device &device, const Mesh &mesh,
                              const Machine &machine) {
  Simulator simulator(device, mesh, machine);
  simulator.run(items);
  return simulator.take();
}

} // namespace titan
