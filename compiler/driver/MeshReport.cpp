#include "compiler/driver/MeshReport.h"
#include "base/layout/Topology.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/driver/TextTable.h"
#include "compiler/sema/modules/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace titan::driver {

/// The bytes that a rank sends in a step over any of these axes: the rank that sends most of them.
static int64_t countBytes(const std::vector<plan::TrafficReport> &traffic,
                          const std::vector<std::string> &axes) {
  int64_t most = 0;
  for (const plan::TrafficReport &rank : traffic)
    most = std::max(most, rank.getBytesSent(axes));
  return most;
}

/// The axes as the file declares them. Those into which an axis was split have its location.
static std::vector<AxisTraffic> listTraffic(const sema::Mesh &mesh, const dist::Degrees &degrees,
                                            const std::vector<plan::TrafficReport> &ranks) {
  std::vector<AxisTraffic> traffic;
  for (const sema::Axis &declared : mesh.declared) {
    std::vector<std::string> names;
    int64_t degree = 1;
    for (const sema::Axis &axis : mesh.axes)
      if (axis.loc == declared.loc) {
        names.push_back(axis.name);
        degree *= std::max<int64_t>(1, degrees.lookup(axis.name));
      }
    traffic.push_back({declared.name, degree, countBytes(ranks, names)});
  }
  return traffic;
}

std::vector<int64_t> getGroupRanks(const AxisReport &axis, int64_t number) {
  const int64_t first = number / axis.stride * axis.stride * axis.degree + number % axis.stride;
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < axis.degree; ++i)
    ranks.push_back(first + i * axis.stride);
  return ranks;
}

std::vector<AxisReport> reportMesh(const sema::Mesh &mesh, const dist::Degrees &degrees,
                                   const std::vector<plan::TrafficReport> &traffic) {
  std::vector<AxisReport> axes;
  std::vector<int64_t> sizes;
  for (const sema::Axis &axis : mesh.axes) {
    axes.push_back({axis.name, std::max<int64_t>(1, degrees.lookup(axis.name)), 1,
                    countBytes(traffic, {axis.name}), std::nullopt});
    sizes.push_back(axes.back().degree);
  }
  for (size_t i = axes.size(); i-- > 1;)
    axes[i - 1].stride = axes[i].stride * axes[i].degree;
  if (mesh.nodes)
    for (auto [axis, across] :
         llvm::zip_equal(axes, findAxesAcrossNodes(sizes, mesh.nodes->ranksPerNode)))
      axis.crossesNodes = across;
  return axes;
}

void warnOfNodes(const sema::Mesh &mesh, const dist::Degrees &degrees,
                 const std::vector<plan::TrafficReport> &traffic, DiagnosticEngine &diags) {
  if (!mesh.nodes)
    return;
  const int64_t ranks = mesh.nodes->ranksPerNode;
  const std::vector<AxisTraffic> axes = listTraffic(mesh, degrees, traffic);
  std::optional<std::vector<size_t>> order = findBetterOrder(axes, ranks);
  if (!order)
    return;
  std::vector<int64_t> degreesNow, degreesThen;
  for (const AxisTraffic &axis : axes)
    degreesNow.push_back(axis.degree);
  std::vector<std::string> names;
  for (size_t i : *order) {
    degreesThen.push_back(axes[i].degree);
    names.push_back("`" + axes[i].name + "`");
  }
  // The axis that gains most.
  std::vector<bool> now = findAxesAcrossNodes(degreesNow, ranks),
                    then = findAxesAcrossNodes(degreesThen, ranks);
  std::optional<size_t> worst;
  for (size_t at = 0; at < order->size(); ++at)
    if (size_t i = (*order)[at];
        now[i] && !then[at] && (!worst || axes[i].bytes > axes[*worst].bytes))
      worst = i;
  diags
      .report(Code::AxisAcrossNodes, mesh.declared[*worst].loc,
              "axis `" + axes[*worst].name + "` crosses nodes, and a rank sends " +
                  groupDigits(axes[*worst].bytes) + " bytes along it in a step")
      .note(mesh.nodes->loc, "a node has " + std::to_string(ranks) + " consecutive ranks")
      .help("write the axes in the order " + llvm::join(names, ", ") + ", in which `" +
            axes[*worst].name + "` stays within nodes");
}

/// The consumers of the planned memory.
static std::vector<std::pair<std::string, int64_t>> listConsumers(const plan::MemoryReport &memory,
                                                                  bool isOneMemory) {
  const plan::ProgramMemory *largest = nullptr;
  for (const plan::ProgramMemory &program : memory.programs)
    if (program.bytes == memory.getTransient())
      largest = &program;
  auto whole = [&](int64_t onDevice, int64_t onHost) {
    return onDevice + (isOneMemory ? onHost : 0);
  };
  std::vector<std::pair<std::string, int64_t>> consumers = {
      {"parameters", whole(memory.parameters, memory.parametersOnHost)},
      {"optimizer state", whole(memory.optimizer, memory.optimizerOnHost)},
      {"buffers", memory.buffers},
      {"stashes of microbatches", memory.stashes},
      {"sums of a step", memory.stepValues},
      {"inputs", memory.inputs},
      {"workspace of kernels", memory.getWorkspace()}};
  if (largest) {
    consumers.push_back({"gradients", largest->gradients});
    consumers.push_back({"activations", largest->activations});
    consumers.push_back({"scratch of kernels", largest->scratch});
  }
  return consumers;
}

void checkMemory(const sema::Mesh &mesh, const plan::MemoryReport &memory, bool isOneMemory,
                 DiagnosticEngine &diags) {
  constexpr double gib = 1 << 30;
  const int64_t bytes = isOneMemory ? memory.getTraining() : memory.getOnDevice();
  if (!mesh.nodes || mesh.nodes->memory == 0 ||
      static_cast<double>(bytes) <= mesh.nodes->memory * gib)
    return;
  auto print = [&](double size) { return llvm::formatv("{0:F1} GiB", size).str(); };
  std::vector<std::pair<std::string, int64_t>> consumers = listConsumers(memory, isOneMemory);
  llvm::stable_sort(consumers, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::vector<std::string> words;
  constexpr size_t most = 3;
  for (const auto &[name, size] : llvm::ArrayRef(consumers).take_front(most))
    if (size > 0)
      words.push_back(name + " " + print(static_cast<double>(size) / gib));
  diags
      .report(Code::MemoryExceeded, mesh.nodes->memoryLoc,
              "a rank needs " + print(static_cast<double>(bytes) / gib) + ", but its device has " +
                  print(mesh.nodes->memory) + "; its largest consumers: " + llvm::join(words, ", "))
      .help(
          "store parameters, gradients and optimizer state in more shards, recompute, use smaller "
          "batches or element types, or store the optimizer's state on the host: `offload = "
          "[optimizer]`");
}

static std::vector<std::string> toWords(const std::vector<int64_t> &ranks) {
  std::vector<std::string> words;
  for (int64_t rank : ranks)
    words.push_back(std::to_string(rank));
  return words;
}

/// "0-7" or "0, 8, 16, 24"; long groups are cut.
static std::string printGroup(const AxisReport &axis, int64_t number) {
  constexpr size_t most = 4;
  std::vector<int64_t> ranks = getGroupRanks(axis, number);
  if (axis.stride == 1 && ranks.size() > 2)
    return std::to_string(ranks.front()) + "-" + std::to_string(ranks.back());
  std::vector<std::string> words = toWords(ranks);
  if (words.size() > most) {
    words[most - 2] = "...";
    words.erase(words.begin() + most - 1, words.end() - 1);
  }
  return llvm::join(words, ", ");
}

/// The first groups: "0-7 | 8-15 | ..."
static std::string printGroups(const AxisReport &axis, int64_t ranks) {
  constexpr int64_t most = 2;
  const int64_t groups = ranks / axis.degree;
  std::vector<std::string> words;
  for (int64_t i = 0; i < std::min(groups, most); ++i)
    words.push_back(printGroup(axis, i));
  if (groups > most)
    words.push_back("...");
  return "ranks " + llvm::join(words, " | ");
}

/// ", ring attention"; empty for the default, and for `auto`, whose result is on another line.
static std::string describe(sema::AttentionMethod method) {
  switch (method) {
  case sema::AttentionMethod::Auto:
  case sema::AttentionMethod::Gather:
    return "";
  case sema::AttentionMethod::Ring:
    return ", ring attention";
  case sema::AttentionMethod::AllToAll:
    return ", all-to-all attention";
  }
  return "";
}

void printMesh(llvm::raw_ostream &out, const sema::Mesh &mesh, const std::vector<AxisReport> &axes,
               int64_t ranks) {
  using Side = TextTable::Side;
  std::vector<Side> sides = {Side::Left, Side::Left, Side::Right};
  if (mesh.nodes)
    sides.push_back(Side::Left);
  TextTable table(sides);
  for (auto [axis, report] : llvm::zip_equal(mesh.axes, axes)) {
    const bool isAuto = axis.degree == 0 && ranks == 1, isTrivial = report.degree == 1;
    std::vector<std::string> cells = {
        axis.name + " = " + (isAuto ? "auto" : std::to_string(report.degree)) +
            (axis.isHeadTail ? ", in head-tail order" : "") + describe(axis.attention),
        isTrivial ? "" : printGroups(report, ranks),
        isTrivial ? "" : "sends " + groupDigits(report.bytesSent) + " bytes"};
    if (mesh.nodes)
      cells.push_back(isTrivial ? "" : *report.crossesNodes ? "across nodes" : "within nodes");
    table.add(std::move(cells));
  }
  table.print(out);
  for (const AxisReport &axis : axes)
    if (!axis.attention.empty())
      out << "  attention over " << axis.name << " by " << axis.attention << ", of "
          << axis.attentionTimes << '\n';
  for (const AxisReport &axis : axes)
    if (!axis.order.empty())
      out << "  " << axis.name << " splits " << axis.order << '\n';
  if (mesh.nodes)
    out << "  on " << mesh.nodes->count << " nodes of " << mesh.nodes->ranksPerNode << " ranks\n";
}

void printAllGroups(llvm::raw_ostream &out, const std::vector<AxisReport> &axes, int64_t ranks) {
  for (const AxisReport &axis : axes) {
    out << "groups of " << axis.name << ":\n";
    for (int64_t i = 0; i < ranks / axis.degree; ++i)
      out << "  " << llvm::join(toWords(getGroupRanks(axis, i)), ", ") << '\n';
  }
}

llvm::json::Object meshJson(const sema::Mesh &mesh, const std::vector<AxisReport> &axes,
                            int64_t ranks) {
  llvm::json::Array list;
  for (const AxisReport &axis : axes) {
    llvm::json::Array groups;
    for (int64_t i = 0; i < ranks / axis.degree; ++i)
      groups.push_back(llvm::json::Array(getGroupRanks(axis, i)));
    llvm::json::Object entry{{"name", axis.name},
                             {"degree", axis.degree},
                             {"stride", axis.stride},
                             {"bytes_sent", axis.bytesSent}};
    if (ranks)
      entry["groups"] = std::move(groups);
    if (axis.crossesNodes)
      entry["crosses_nodes"] = *axis.crossesNodes;
    if (!axis.order.empty())
      entry["order"] = axis.order;
    if (!axis.attention.empty()) {
      entry["attention"] = axis.attention;
      entry["attention_times"] = axis.attentionTimes;
    }
    list.push_back(std::move(entry));
  }
  llvm::json::Object out{{"axes", std::move(list)}};
  if (mesh.nodes)
    out["nodes"] = llvm::json::Object{{"count", mesh.nodes->count},
                                      {"ranks_per_node", mesh.nodes->ranksPerNode}};
  return out;
}

} // namespace titan::driver
