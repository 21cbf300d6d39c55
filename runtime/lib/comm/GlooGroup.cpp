#include "GlooGroup.h"

#include "C10d.h"
#include "CallWithTimeout.h"
#include "PeerGroup.h"
#include "Rendezvous.h"

#include "base/Error.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

/// A view of the caller's memory without ownership. Gloo never writes to inputs.
at::Tensor view(const void *data, int64_t bytes) {
  return at::from_blob(const_cast<void *>(data), {bytes}, at::TensorOptions(at::kByte));
}

/// The failure of a message with one member.
struct MessageFailed {
  int member;
  std::string text; // from c10d
};

/// Messages between members, which Gloo identifies by their positions. Any thread may abort them.
class GlooMessages final : public Messages {
public:
  /// The tag identifies the call, so that messages of other calls are not received.
  GlooMessages(c10d::ProcessGroupGloo &gloo, int tag) : gloo(gloo), tag(tag) {}

  size_t send(const std::byte *data, int64_t bytes, int member) override {
    sent += bytes;
    return start(sends, bytes, member,
                 [&] { return gloo.send(*tensor(data, bytes), member, tag); });
  }
  size_t receive(std::byte *data, int64_t bytes, int member) override {
    return start(receives, bytes, member,
                 [&] { return gloo.recv(*tensor(data, bytes), member, tag); });
  }
  void awaitSent(size_t number) override { await(sends[number]); }
  void awaitReceived(size_t number) override { await(receives[number]); }
  void awaitAll() override {
    for (; arrived < receives.size(); ++arrived)
      await(receives[arrived]);
    for (; departed < sends.size(); ++departed)
      await(sends[departed]);
  }
  int64_t bytesSent() const { return sent; }
  void abort() {
    std::lock_guard lock(mutex);
    isAborted = true;
    for (const auto &works : {sends, receives})
      for (const Message &message : works)
        if (message.work)
          message.work->abort();
  }

private:
  struct Message {
    int member;
    WorkPtr work;
  };

  /// c10d takes lists of tensors.
  std::vector<at::Tensor> *tensor(const void *data, int64_t bytes) {
    argument[0] = view(data, bytes);
    return &argument;
  }
  /// Calls c10d for a message with `member` and adds the member to exceptions.
  template <typename Call> static auto guarded(int member, Call call) {
    try {
      return call();
    } catch (const std::exception &error) {
      throw MessageFailed{member, firstLine(error)};
    }
  }
  /// An empty message needs no work.
  template <typename Call>
  size_t start(std::vector<Message> &works, int64_t bytes, int member, Call call) {
    std::lock_guard lock(mutex);
    if (isAborted)
      throw MessageFailed{member, kAborted};
    works.push_back({member, bytes ? guarded(member, call) : WorkPtr()});
    return works.size() - 1;
  }
  void await(Message &message) {
    if (message.work &&
        !guarded(message.member, [&] { return message.work->wait(gloo.getOptions()->timeout); }))
      throw MessageFailed{message.member, kAborted};
    std::lock_guard lock(mutex);
    message.work.reset();
  }

  static constexpr const char *kAborted = "this rank has left the process group";

  c10d::ProcessGroupGloo &gloo;
  int tag;
  std::vector<at::Tensor> argument{1}; // reused by tensor()
  std::mutex mutex;                    // of the works
  bool isAborted = false;
  std::vector<Message> sends, receives;
  size_t arrived = 0, departed = 0; // all before these are done
  int64_t sent = 0;
};

/// The kind of an error by its text. Gloo's texts contain ports and source lines, so only words are
/// matched.
bool isTimeout(const std::string &text) {
  return text.find("imed out") != std::string::npos || text.find("imeout") != std::string::npos;
}
bool isClosed(const std::string &text) {
  for (const char *phrase : {"closed by peer", "reset by peer", "Broken pipe", "not connected"})
    if (text.find(phrase) != std::string::npos)
      return true;
  return false;
}

class GlooGroup final : public PeerGroup {
public:
  GlooGroup(std::vector<int> ranks, int position, c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo)
      : PeerGroup(std::move(ranks), position), gloo(std::move(gloo)) {}

  void leave() override {
    std::lock_guard lock(mutex);
    hasLeft = true;
    if (running)
      running->abort();
  }

protected:
  void withMessages(const CallSignature &call,
                    const std::function<void(Messages &)> &body) override {
    auto begin = std::chrono::steady_clock::now();
    try {
      GlooMessages messages(*gloo, static_cast<int>(computeHash(call) >> 33));
      const Running entry(*this, messages);
      body(messages);
      messages.awaitAll();
      sentInMessages += messages.bytesSent();
    } catch (const MessageFailed &failed) {
      std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      const int rank = ranks()[failed.member];
      const bool hasEnded = isClosed(failed.text);
      const std::string cause =
          hasEnded ? fmt::format("rank {} is gone", rank)
          : isTimeout(failed.text)
              ? fmt::format("rank {} did not come in time", rank)
              : fmt::format("the connection to rank {}: {}", rank, failed.text);
      throw makeFailure(*this, call.operation, call.site, cause, waited.count(), {rank, hasEnded});
    }
  }

private:
  /// The messages that `leave` aborts, during a call.
  class Running {
  public:
    Running(GlooGroup &group, GlooMessages &messages) : group(group) {
      std::lock_guard lock(group.mutex);
      group.running = &messages;
      if (group.hasLeft)
        messages.abort();
    }
    ~Running() {
      std::lock_guard lock(group.mutex);
      group.running = nullptr;
    }

  private:
    GlooGroup &group;
  };

  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
  std::mutex mutex;
  GlooMessages *running = nullptr;
  bool hasLeft = false;
};

} // namespace

std::unique_ptr<Group> connectGlooGroup(const c10::intrusive_ptr<c10d::Store> &store,
                                        const std::vector<int> &ranks, int position,
                                        const GlooOptions &options) {
  auto gloo = c10d::ProcessGroupGloo::Options::create(options.timeout);
  gloo->devices.push_back(options.device);
  gloo->threads = 1; // a step's collectives are issued one after the other
  auto connect = [store, gloo, position, size = static_cast<int>(ranks.size())] {
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, position, size, gloo);
  };
  return std::make_unique<GlooGroup>(ranks, position,
                                     callWithTimeout(options.connectTimeout, connect));
}

} // namespace titan::rt
