#include "base/prediction/StepTime.h"

#include "base/Error.h"
#include "base/machine/DeviceOfRank.h"

#include <algorithm>
#include <numeric>

namespace titan {
namespace {

/// The messages from one rank to another, which pass in order.
struct MessageLane {
  struct Transfer {
    double bytes = 0;
    std::optional<double> sent, received; ///< when each end started
    double end = 0;                       ///< of the first `numEnded` transfers
  };
  std::vector<Transfer> transfers;
  size_t numSent = 0, numReceived = 0; ///< ends that have started
  size_t numEnded = 0;

  Transfer &get(size_t number) {
    if (transfers.size() <= number)
      transfers.resize(number + 1);
    return transfers[number];
  }
};

/// Runs the calls of all ranks along the axis of the pipeline.
class PipelineSimulator {
public:
  PipelineSimulator(const StepProgram &step, const Mesh &mesh, const Machine &machine,
                    StepTime &time)
      : step(step), mesh(mesh), machine(machine), time(time), states(step.ranks.size()) {
    time.calls.resize(step.ranks.size());
    for (size_t rank = 0; rank < states.size(); ++rank)
      states[rank].ends.resize(step.ranks[rank].messages.size());
  }

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t rank = 0; rank < states.size(); ++rank)
        while (advance(rank))
          moved = true;
    }
    for (size_t rank = 0; rank < states.size(); ++rank) {
      if (states[rank].next <= step.ranks[rank].calls.size())
        throw Fault("the ranks of a pipeline wait for one another");
      time.seconds = std::max(time.seconds, states[rank].now);
    }
  }

private:
  struct End {
    MessageLane *lane = nullptr; ///< null: not started
    size_t number = 0;
  };
  struct State {
    double now = 0;
    size_t next = 0;        ///< the next call; one more than their number at the end
    bool hasPosted = false; ///< whether the receives of the next call have started
    std::vector<End> ends;
  };

  /// Runs the next call of a rank, or the waits at its end, if its messages can arrive.
  bool advance(size_t rank) {
    State &state = states[rank];
    const StepProgram::Rank &program = step.ranks[rank];
    if (state.next > program.calls.size())
      return false;
    const bool isEnd = state.next == program.calls.size();
    if (!isEnd && !state.hasPosted) {
      for (int message : program.calls[state.next].receives)
        start(rank, message);
      state.hasPosted = true;
    }
    const std::optional<double> arrival =
        findArrival(rank, isEnd ? program.lastWaits : program.calls[state.next].waits);
    if (!arrival)
      return false;
    state.now = std::max(state.now, *arrival);
    if (!isEnd)
      call(rank, program.calls[state.next]);
    ++state.next;
    state.hasPosted = false;
    return true;
  }

  void call(size_t rank, const StepCall &call) {
    State &state = states[rank];
    const double begin = state.now;
    state.now += call.times * time.functions.at(call.function).seconds;
    time.calls[rank].push_back({&call, begin, state.now});
    for (int message : call.sends)
      start(rank, message);
  }

  void start(size_t rank, int message) {
    const StepMessage &end = step.ranks[rank].messages[static_cast<size_t>(message)];
    const auto self = static_cast<int>(rank);
    const std::pair<int, int> key =
        end.isSend ? std::pair(self, self + end.offset) : std::pair(self - end.offset, self);
    MessageLane &lane = lanes[key];
    size_t &count = end.isSend ? lane.numSent : lane.numReceived;
    MessageLane::Transfer &transfer = lane.get(count);
    transfer.bytes = std::max(transfer.bytes, end.bytes);
    (end.isSend ? transfer.sent : transfer.received) = states[rank].now;
    states[rank].ends[static_cast<size_t>(message)] = {&lane, count};
    ++count;
    pairs[&lane] = key;
  }

  /// When the last of `messages` has passed; nothing while the other end of one has not started.
  std::optional<double> findArrival(size_t rank, const std::vector<int> &messages) {
    double latest = 0;
    for (int message : messages) {
      const End &end = states[rank].ends[static_cast<size_t>(message)];
      if (!end.lane)
        return std::nullopt;
      const std::optional<double> arrival = findArrival(*end.lane, end.number);
      if (!arrival)
        return std::nullopt;
      latest = std::max(latest, *arrival);
    }
    return latest;
  }

  std::optional<double> findArrival(MessageLane &lane, size_t number) {
    for (; lane.numEnded <= number; ++lane.numEnded) {
      MessageLane::Transfer &transfer = lane.transfers[lane.numEnded];
      if (!transfer.sent || !transfer.received)
        return std::nullopt;
      const double before = lane.numEnded ? lane.transfers[lane.numEnded - 1].end : 0;
      transfer.end =
          std::max({before, *transfer.sent, *transfer.received}) + getSeconds(lane, transfer.bytes);
    }
    return lane.transfers[number].end;
  }

  double getSeconds(const MessageLane &lane, double bytes) {
    auto getRank = [&](int coordinate) {
      std::vector<int> coordinates(step.degrees.size());
      coordinates[static_cast<size_t>(step.pipelineAxis)] = coordinate;
      return mesh.rank(coordinates);
    };
    auto [from, to] = pairs.at(&lane);
    return getMessageSeconds(bytes, getRank(from), getRank(to), machine);
  }

  const StepProgram &step;
  const Mesh &mesh;
  const Machine &machine;
  StepTime &time;
  std::vector<State> states;
  std::map<std::pair<int, int>, MessageLane> lanes;
  std::map<const MessageLane *, std::pair<int, int>> pairs;
};

std::string describeAxes(const std::vector<int> &axes, const StepProgram &step) {
  std::string text;
  for (int axis : axes)
    text += (text.empty() ? "" : ", ") + step.axes[static_cast<size_t>(axis)];
  return text;
}

/// Adds the spans of one call to the times of the step.
void addTimes(const FunctionTime &function, double times, const StepProgram &step, StepTime &time) {
  for (const StepSpan &span : function.spans) {
    double seconds = times * span.times * span.waited;
    if (!span.axes.empty()) {
      time.exposed[describeAxes(span.axes, step)] += seconds;
    } else {
      seconds = times * span.times * (span.end - span.begin);
      const KernelKind kind = std::get<StepKernel>(span.item->what).work.kind;
      (kind == KernelKind::Product ? time.products
       : kind == KernelKind::Loop  ? time.loops
                                   : time.attention) += seconds;
    }
    time.lines[{span.item->source.file, span.item->source.line}] += seconds;
  }
}

/// The seconds in which a rank runs its calls.
double countBusy(const std::vector<CallSpan> &calls) {
  double busy = 0;
  for (const CallSpan &span : calls)
    busy += span.end - span.begin;
  return busy;
}

double countRanks(const StepProgram &step) {
  return std::accumulate(step.degrees.begin(), step.degrees.end(), 1.0, std::multiplies<>());
}

/// The ranks that use one CPU: those that the first link connects.
double countRanksPerDevice(const StepProgram &step, const Machine &machine) {
  const double ranks = countRanks(step);
  if (machine.device.isCuda)
    return 1;
  if (machine.links.empty() || machine.links.front().ranks == 0)
    return ranks;
  return std::min(ranks, static_cast<double>(machine.links.front().ranks));
}

} // namespace

double getMemoryOfRank(const StepProgram &step, const Machine &machine) {
  return getDeviceOfRank(machine.device, countRanksPerDevice(step, machine)).memory;
}

StepTime predictStep(const StepProgram &step, const Machine &machine) {
  std::vector<MeshAxis> axes;
  for (size_t i = 0; i < step.axes.size(); ++i)
    axes.push_back({step.axes[i], step.degrees[i]});
  const Mesh mesh(axes);
  const Device device = getDeviceOfRank(machine.device, countRanksPerDevice(step, machine));
  StepTime time;
  for (const auto &[name, items] : step.functions)
    time.functions.emplace(name, simulateFunction(items, device, mesh, machine));
  PipelineSimulator(step, mesh, machine, time).run();
  const auto &busiest =
      *std::max_element(time.calls.begin(), time.calls.end(),
                        [](const auto &a, const auto &b) { return countBusy(a) < countBusy(b); });
  for (const CallSpan &span : busiest)
    addTimes(time.functions.at(span.call->function), span.call->times, step, time);
  time.bubble = time.seconds - countBusy(busiest);
  return time;
}

Utilisation getUtilisation(const StepProgram &step, double seconds, const Machine &machine) {
  auto found = machine.device.products.find(step.type);
  if (found == machine.device.products.end())
    return {};
  const double peak = found->second.peak * countRanks(step) / countRanksPerDevice(step, machine);
  return {step.modelFlops / seconds / peak, step.flops / seconds / peak};
}

} // namespace titan
