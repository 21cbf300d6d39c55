// A rendezvous of threads that act as ranks, with a common store.
#pragma once

#include "comm/Rendezvous.h"

#include "base/Error.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace titan::test {

/// The keys and values that all ranks share.
class ThreadStore {
public:
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
};

/// The view of one rank.
class ThreadRendezvous final : public rt::Rendezvous {
public:
  explicit ThreadRendezvous(ThreadStore &all) : all(all) {}

  void publish(const std::string &key, const std::string &value) override {
    std::lock_guard lock(all.mutex);
    all.values[prefix + key] = value;
    all.changed.notify_all();
  }
  using Rendezvous::lookup;
  std::string lookup(const std::string &key, std::chrono::milliseconds limit) override {
    std::unique_lock lock(all.mutex);
    if (!all.changed.wait_for(lock, limit, [&] { return all.values.count(prefix + key) > 0; }))
      throw Fault("no " + key + " in time");
    return all.values[prefix + key];
  }
  bool has(const std::string &key) override {
    std::lock_guard lock(all.mutex);
    return all.values.count(prefix + key) > 0;
  }
  int64_t add(const std::string &key, int64_t amount) override {
    std::lock_guard lock(all.mutex);
    std::string &value = all.values[prefix + key];
    int64_t sum = (value.empty() ? 0 : std::stoll(value)) + amount;
    value = std::to_string(sum);
    return sum;
  }
  std::string claim(const std::string &key, const std::string &value) override {
    std::lock_guard lock(all.mutex);
    return all.values.emplace(prefix + key, value).first->second;
  }
  void setKeyPrefix(const std::string &nonce) override { prefix += nonce + "/"; }
  std::chrono::milliseconds timeout() const override { return limit; }
  void setTimeout(std::chrono::milliseconds most) override { limit = most; }

  std::string address() const override { return ownAddress; }
  void chooseAddress(const std::string &peer) override { ownAddress = "toward " + peer; }
  c10d::Store &store() override { throw Fault("no store"); }
  std::unique_ptr<rt::Group> makeGlooGroup(const std::vector<int> &, int) override {
    return nullptr;
  }

  std::string prefix, ownAddress = "127.0.0.1";

private:
  ThreadStore &all;
  std::chrono::milliseconds limit{20000};
};

} // namespace titan::test
