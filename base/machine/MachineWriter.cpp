#include "base/machine/MachineFile.h"

#include <fmt/format.h>

namespace titan {
namespace {

/// The text of a number that TOML reads back as the same one.
std::string print(double number) {
  return fmt::format("{}", number);
}

std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "\"";
}

/// A key with a list for each type that has measured kernels, below `header`.
template <typename Print>
std::string writeMeasured(const Device &device, const std::string &header,
                          std::vector<MeasuredKernel> ProductRates::*measured, Print print) {
  std::string text;
  for (const auto &[type, rates] : device.products) {
    if ((rates.*measured).empty())
      continue;
    text += type + " = [\n";
    for (const MeasuredKernel &each : rates.*measured)
      text += "  [" + print(each) + "],\n";
    text += "]\n";
  }
  return text.empty() ? "" : "\n" + header + "\n" + text;
}

std::string writeAttention(const Device &device) {
  auto print = [](const MeasuredKernel &each) {
    return fmt::format("{}, {}, {}, {}, {}, {}", each.batch, each.m, each.n, each.k, each.flops,
                       each.seconds);
  };
  const std::string columns = " # batch, queries, keys, size, operations, seconds";
  return fmt::format("\n[attention]\nforward = {}\nbackward = {}\n", device.attentionForward,
                     device.attentionBackward) +
         writeMeasured(device, "[attention.measured.forward]" + columns,
                       &ProductRates::attentionForward, print) +
         writeMeasured(device, "[attention.measured.backward]" + columns,
                       &ProductRates::attentionBackward, print);
}

std::string writeProducts(const Device &device) {
  std::string text = "\n[peak]\n";
  for (const auto &[type, rates] : device.products)
    text += type + " = " + print(rates.peak) + "\n";
  return text +
         fmt::format("\n[products]\nefficiency = {}\ntile = [{}, {}]\ndepth = {}\n",
                     device.productEfficiency, device.tileRows, device.tileColumns,
                     device.halfDepth) +
         writeMeasured(device, "[products.measured] # batch, m, n, k, seconds",
                       &ProductRates::measured, [](const MeasuredKernel &each) {
                         return fmt::format("{}, {}, {}, {}, {}", each.batch, each.m, each.n,
                                            each.k, each.seconds);
                       });
}

std::string writeMemory(const Device &device) {
  std::string text = "\n[memory]\nbytes = " + print(device.memory) +
                     "\nbandwidth = " + print(device.levels.back().bandwidth) + "\n";
  for (size_t i = 0; i + 1 < device.levels.size(); ++i)
    text += fmt::format("\n[caches.level{}]\nbytes = {}\nbandwidth = {}\n", i + 1,
                        device.levels[i].bytes, device.levels[i].bandwidth);
  return text;
}

std::string writeLink(const Link &link) {
  std::string text = "\n[links." + link.name + "]\n";
  if (link.ranks)
    text += "ranks = " + std::to_string(link.ranks) + "\n";
  return text + fmt::format("bandwidth = {}\nlatency = {}\nstolen = {}\n", link.bandwidth,
                            link.latency, link.stolen);
}

} // namespace

std::string writeMachine(const Machine &machine) {
  const Device &device = machine.device;
  std::string text =
      "name = " + quote(machine.name) +
      fmt::format("\nkind = \"{}\"\ncores = {}\nlaunch = {}\n", device.isCuda ? "cuda" : "cpu",
                  device.cores, device.launch) +
      writeProducts(device) + writeAttention(device) + writeMemory(device) +
      fmt::format("\n[loops]\narithmetic = {}\nspecial = {}\n", device.arithmetic, device.special);
  for (const Link &link : machine.links)
    text += writeLink(link);
  return text;
}

} // namespace titan
