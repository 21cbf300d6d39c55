#include "base/machine/MachineFile.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace titan;

namespace {

const std::string small = R"(
name = "one"
kind = "cpu"
cores = 2
memory.bytes = 8e9
memory.bandwidth = 10e9
peak.f32 = 1e11
loops.arithmetic = 1e9
loops.special = 1e8
)";

std::string getMistake(const std::string &text) {
  MachineFile file = readMachine(text);
  EXPECT_FALSE(file.machine);
  return file.mistake.message;
}

TEST(MachineFile, ReadsSmallMachine) {
  MachineFile file = readMachine(small);
  ASSERT_TRUE(file.machine) << file.mistake.message;
  const Machine &machine = *file.machine;
  EXPECT_EQ(machine.name, "one");
  EXPECT_FALSE(machine.device.isCuda);
  EXPECT_EQ(machine.device.products.at("f32").peak, 1e11);
  ASSERT_EQ(machine.device.levels.size(), 1U);
  EXPECT_TRUE(std::isinf(machine.device.levels[0].bytes));
  EXPECT_EQ(machine.device.levels[0].bandwidth, 10e9);
  EXPECT_TRUE(machine.links.empty());
}

TEST(MachineFile, OrdersLinksAndCachesBySize) {
  MachineFile file = readMachine(small + R"(
memory.efficiency = 0.5
[links.far]
bandwidth = 10e9
[links.near]
ranks = 8
bandwidth = 100e9
efficiency = 0.5
latency = 1e-6
stolen = 0.25
[caches.b]
bytes = 2e6
bandwidth = 3e9
[caches.a]
bytes = 1e6
bandwidth = 4e9
)");
  ASSERT_TRUE(file.machine) << file.mistake.message;
  const Machine &machine = *file.machine;
  ASSERT_EQ(machine.links.size(), 2U);
  EXPECT_EQ(machine.links[0].name, "near");
  EXPECT_EQ(machine.links[0].bandwidth, 50e9);
  EXPECT_EQ(machine.links[0].stolen, 0.25);
  EXPECT_EQ(machine.links[1].ranks, 0);
  ASSERT_EQ(machine.device.levels.size(), 3U);
  EXPECT_EQ(machine.device.levels[0].bandwidth, 4e9);
  EXPECT_EQ(machine.device.levels[2].bandwidth, 5e9);
}

TEST(MachineFile, ReadsMeasuredProducts) {
  MachineFile file = readMachine(small + "[products.measured]\nf32 = [[1, 2, 3, 4, 5e-9]]\n");
  ASSERT_TRUE(file.machine) << file.mistake.message;
  const auto &measured = file.machine->device.products.at("f32").measured;
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].k, 4);
  EXPECT_EQ(measured[0].seconds, 5e-9);
}

TEST(MachineFile, ReportsMistakes) {
  EXPECT_EQ(getMistake(""), "the machine has no key `name`");
  EXPECT_EQ(getMistake(small + "lanch = 1"), "unknown key `lanch`; did you mean `launch`?");
  EXPECT_EQ(getMistake(small + "links.near.bandwith = 1"),
            "unknown key `links.near.bandwith`; did you mean `links.near.bandwidth`?");
  EXPECT_EQ(getMistake(small + "launch = -1"), "expected a number that is not negative");
  EXPECT_EQ(getMistake(small + "launch = nan"), "expected a number that is not negative");
  EXPECT_EQ(getMistake(small + "memory.efficiency = 2"), "expected a number from 0 to 1");
  EXPECT_EQ(getMistake(small + "products.tile = [1]"), "expected a list of 2 numbers");
  EXPECT_EQ(getMistake(small + "links.near.ranks = 8"), "`links.near` needs `bandwidth`");
  EXPECT_EQ(getMistake(small + "products.measured.bf16 = [[1, 2, 3, 4, 5]]"),
            "measured kernels of bf16 need `peak.bf16`");
  EXPECT_NE(getMistake("name = "), "");
}

TEST(MachineFile, WritesWhatItReads) {
  const std::string text = small + R"(
launch = 1e-7
attention.forward = 0.25
links.near = {ranks = 2, bandwidth = 1e9, latency = 1e-6, stolen = 1}
caches.l2 = {bytes = 1e6, bandwidth = 1e11}
products.measured.f32 = [[1, 2, 3, 4, 0.1], [5, 6, 7, 8, 1e-9]]
attention.measured.backward.f32 = [[1, 2, 3, 4, 5, 6]]
)";
  const std::string written = writeMachine(*readMachine(text).machine);
  MachineFile again = readMachine(written);
  ASSERT_TRUE(again.machine) << again.mistake.message << '\n' << written;
  EXPECT_EQ(writeMachine(*again.machine), written);
  EXPECT_EQ(again.machine->device.products.at("f32").measured[1].seconds, 1e-9);
  EXPECT_EQ(again.machine->device.products.at("f32").attentionBackward[0].flops, 5);
  EXPECT_EQ(again.machine->links[0].stolen, 1);
  EXPECT_EQ(again.machine->device.levels[0].bytes, 1e6);
}

TEST(MachineFile, LocatesMistakes) {
  const std::string text = small + "launch = \"soon\"";
  MachineFile file = readMachine(text);
  EXPECT_EQ(text.substr(file.mistake.location.offset, file.mistake.location.length), "\"soon\"");
}

} // namespace
