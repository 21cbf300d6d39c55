// The mesh of a run with all degrees known: the groups of its axes, the bytes that a rank sends
// along each axis, and the axes that cross nodes.
#pragma once

#include "compiler/plan/MemoryReport.h"
#include "compiler/plan/TrafficReport.h"
#include "compiler/sema/mesh/Mesh.h"

#include "llvm/Support/JSON.h"

namespace titan::driver {

/// One axis of the mesh. The ranks of a group are `stride` apart; group g begins at rank
/// g / stride * stride * degree + g % stride.
struct AxisReport {
  std::string name;
  int64_t degree = 1;
  int64_t stride = 1;
  /// By a rank in a step, of a pipeline the one that sends most along this axis. A collective over
  /// several axes counts for each.
  int64_t bytesSent = 0;
  std::optional<bool> crossesNodes; ///< absent: the map names no nodes
  /// The method of attention that the compiler chose, and the times of all methods; empty: none.
  std::string attention = {}, attentionTimes = {};
  std::string order = {}; ///< which dimension of tables and rows comes first, and why
};

/// The ranks of group `number` of an axis.
std::vector<int64_t> getGroupRanks(const AxisReport &axis, int64_t number);

/// `traffic` is that of each rank along the pipeline.
std::vector<AxisReport> reportMesh(const sema::Mesh &mesh, const dist::Degrees &degrees,
                                   const std::vector<plan::TrafficReport> &traffic);

/// Warns of an axis that crosses nodes without need, and names the better order.
void warnOfNodes(const sema::Mesh &mesh, const dist::Degrees &degrees,
                 const std::vector<plan::TrafficReport> &traffic, DiagnosticEngine &diags);

/// Reports a rank whose planned memory exceeds that of its device, with its largest consumers.
/// `isOneMemory`: the host and the device have the same memory, as on a CPU.
void checkMemory(const sema::Mesh &mesh, const plan::MemoryReport &memory, bool isOneMemory,
                 DiagnosticEngine &diags);

/// A row per axis, outer to inner, of `ranks` ranks.
void printMesh(llvm::raw_ostream &out, const sema::Mesh &mesh, const std::vector<AxisReport> &axes,
               int64_t ranks);
/// A line per group of each axis, with all of its ranks.
void printAllGroups(llvm::raw_ostream &out, const std::vector<AxisReport> &axes, int64_t ranks);
/// With the groups of `ranks` ranks; 0: without groups.
llvm::json::Object meshJson(const sema::Mesh &mesh, const std::vector<AxisReport> &axes,
                            int64_t ranks);

} // namespace titan::driver
