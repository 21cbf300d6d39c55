// Executes the steps of all ranks in a random interleaving. Memory holds the names of values, and a
// transfer copies at a random time between the starts of its ends and their waits. So a slot that
// is reused too early, or a message in the wrong order, gives a call a wrong value.
#pragma once

#include "pipeline/StepRunner.h"

#include <map>
#include <random>

namespace titan::test {

class PlanSimulation {
public:
  PlanSimulation(const pipeline::Pipeline &pipeline, const std::vector<rt::RankPlan> &plans,
                 std::mt19937 &random)
      : pipeline(pipeline), plans(plans), random(random), ranks(plans.size()) {
    for (size_t rank = 0; rank < plans.size(); ++rank)
      recordActions(rank);
  }

  /// Runs the plans. Returns the first fault; empty if all calls have read the right values.
  std::string run() {
    while (problem.empty()) {
      std::vector<size_t> choices; // ranks, and then routes
      size_t unfinished = 0;
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        unfinished += ranks[rank].next < ranks[rank].actions.size();
        if (canStep(rank))
          choices.push_back(rank);
      }
      size_t number = ranks.size();
      for (const auto &[route, ends] : routes)
        if (++number; ends.sent.size() > ends.moved && ends.received.size() > ends.moved)
          choices.push_back(number - 1);
      if (unfinished == 0)
        return "";
      if (choices.empty())
        return "deadlock";
      choose(choices[std::uniform_int_distribution<size_t>(0, choices.size() - 1)(random)]);
    }
    return problem;
  }

private:
  using Address = std::pair<int, int64_t>; ///< allocation and slot
  struct Action {
    enum Kind { Start, Finish, Call } kind;
    int index;
  };
  struct Rank {
    std::vector<Action> actions;
    size_t next = 0;
    std::map<Address, std::string> memory;
    std::map<int, size_t> started; ///< per message, its number on its route
  };
  /// The messages from one rank to another, in order; the first `moved` have been copied.
  struct Route {
    std::vector<Address> sent, received;
    size_t moved = 0;
  };

  /// Records the starts and waits of messages.
  struct Recorder final : rt::StageMessages {
    explicit Recorder(std::vector<Action> &actions) : actions(actions) {}
    void start(const rt::Message &, int number) override {
      actions.push_back({Action::Start, number});
    }
    void finish(int number) override { actions.push_back({Action::Finish, number}); }
    std::vector<Action> &actions;
  };

  /// Records the actions of a rank's step without executing them.
  void recordActions(size_t rank) {
    std::vector<Action> &actions = ranks[rank].actions;
    Recorder recorder(actions);
    rt::runStep(plans[rank], recorder, [&, number = 0](const rt::PlannedCall &) mutable {
      actions.push_back({Action::Call, number++});
    });
  }

  Route &getRoute(size_t rank, const rt::Message &message) {
    const int self = static_cast<int>(rank);
    return message.isSend ? routes[{self, self + message.offset}]
                          : routes[{self - message.offset, self}];
  }

  bool canStep(size_t rank) {
    const Rank &state = ranks[rank];
    if (state.next == state.actions.size())
      return false;
    const Action &action = state.actions[state.next];
    if (action.kind != Action::Finish)
      return true;
    const auto started = state.started.find(action.index);
    return started != state.started.end() &&
           getRoute(rank, plans[rank].messages[static_cast<size_t>(action.index)]).moved >
               started->second;
  }

  /// Executes an action of a rank, or copies the next message of a route.
  void choose(size_t choice) {
    if (choice < ranks.size())
      return step(choice);
    auto route = std::next(routes.begin(), static_cast<std::ptrdiff_t>(choice - ranks.size()));
    Route &ends = route->second;
    ranks[static_cast<size_t>(route->first.second)].memory[ends.received[ends.moved]] =
        ranks[static_cast<size_t>(route->first.first)].memory[ends.sent[ends.moved]];
    ++ends.moved;
  }

  void step(size_t rank) {
    Rank &state = ranks[rank];
    const Action action = state.actions[state.next++];
    if (action.kind == Action::Call)
      return call(state, plans[rank].calls[static_cast<size_t>(action.index)]);
    if (action.kind == Action::Finish)
      return;
    const rt::Message &message = plans[rank].messages[static_cast<size_t>(action.index)];
    Route &route = getRoute(rank, message);
    std::vector<Address> &ends = message.isSend ? route.sent : route.received;
    state.started[action.index] = ends.size();
    ends.push_back({message.allocation, message.slot});
  }

  /// Checks the names of the values that a call reads, and stores those that it writes.
  void call(Rank &state, const rt::PlannedCall &planned) {
    const pipeline::Fragment &fragment =
        pipeline.fragments[static_cast<size_t>(planned.fragment.fragment)];
    auto getAddress = [&](int allocation) {
      for (const rt::PlannedCall::Slot &slot : planned.slots)
        if (slot.allocation == allocation)
          return Address{allocation, slot.index};
      return Address{allocation, 0};
    };
    auto getName = [&](int allocation) {
      return std::to_string(allocation) +
             (pipeline::isStash(pipeline, allocation)
                  ? " of " + std::to_string(planned.fragment.microbatch)
                  : "");
    };
    for (int allocation : fragment.reads)
      if (state.memory[getAddress(allocation)] != getName(allocation))
        problem = planned.name + " finds '" + state.memory[getAddress(allocation)] + "' for " +
                  getName(allocation);
    for (int allocation : fragment.writes)
      state.memory[getAddress(allocation)] = getName(allocation);
  }

  const pipeline::Pipeline &pipeline;
  const std::vector<rt::RankPlan> &plans;
  std::mt19937 &random;
  std::vector<Rank> ranks;
  std::map<std::pair<int, int>, Route> routes; ///< by sender and receiver
  std::string problem;
};

} // namespace titan::test
