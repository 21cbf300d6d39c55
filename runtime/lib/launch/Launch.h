// Who am I among the processes of this run? The same binary is started by torchrun, by Slurm's
// srun, by Open MPI's mpirun, or by hand; each tells a process its place by environment variables
// of its own. This is the only place that knows their names.
//
// Detection is a pure function of the environment, so that a test can hand it any. It reads, in
// this order, and the first that is complete wins (torchrun inside srun is torchrun):
//   torchrun   RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT
//   Open MPI   OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}
//   Slurm      SLURM_PROCID SLURM_STEP_NUM_TASKS|SLURM_NTASKS SLURM_LOCALID; only inside a step
//              (SLURM_STEP_ID), because a batch script that runs the program without srun sees
//              SLURM_PROCID=0 and SLURM_NTASKS=N too and would wait for peers that never come.
//
// Errors: UserError, where variables contradict each other or are not numbers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

enum class Launcher { Alone, Torchrun, OpenMpi, Slurm };

/// The word a message uses for the launcher.
const char *launcherName(Launcher launcher);

struct LaunchInfo {
  Launcher launcher = Launcher::Alone;
  int rank = 0;
  int worldSize = 1;
  int localRank = 0;      ///< place among the processes of this machine
  int localWorldSize = 1; ///< processes of this run on this machine
  /// The launcher says how many they are; else all are taken to be on one machine.
  bool knowsLocalSize = true;
  /// The launcher's name for the run, which no other run has; empty where there is none.
  std::string job;
  std::string masterAddress = "127.0.0.1";
  int masterPort = 0; ///< 0 only when the process is alone
  /// torchrun's agent already serves a store at master address and port: every rank connects as a
  /// client. Otherwise rank 0 serves it.
  bool agentServesStore = false;
};

/// Looks up one variable; empty optional where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string &)>;

/// The environment of this process.
EnvironmentLookup processEnvironment();

LaunchInfo detectLaunch(const EnvironmentLookup &environment = processEnvironment());

/// The hosts of a Slurm node list, `most` at most: "gpu[07-09,12],r[1-2]n[3-4]" -> gpu07, gpu08,
/// gpu09, gpu12, r1n3, r1n4, r2n3, r2n4. A text that is no such list is one host.
std::vector<std::string> slurmHosts(const std::string &nodeList, size_t maxHosts);
std::string firstSlurmHost(const std::string &nodeList);

/// Tasks on node `node` by SLURM_TASKS_PER_NODE's notation: ("4(x2),3", 2) -> 3; 0 if it has none.
int slurmTasksOnNode(const std::string &tasksPerNode, int node);

/// The cores that a process may run on (its affinity mask, which containers and launchers narrow),
/// and on which machine.
struct CoreSet {
  std::array<uint64_t, 16> cores = {};
  uint64_t machine = 0;
};
CoreSet ownCores();

/// How many of its cores are a rank's, where each one is shared evenly by the ranks that may run on
/// it: launchers give ranks all cores of a machine, or each its own, or something between.
int fairShare(std::span<const CoreSet> ranks, int rank);

/// As many threads as CoreSet knows cores. OpenMP keeps something of each on the stack of the
/// thread that starts them, which 100,000 overrun.
constexpr long maxThreads = 1024;

/// How many OpenMP threads this rank should use, given its fair share of cores.
///
/// TITAN_NUM_THREADS decides where it is set, then OMP_NUM_THREADS, else the share. One exception:
/// torchrun sets OMP_NUM_THREADS=1 whenever it starts several processes and the variable was not
/// set, "to avoid your system being overloaded". A 1 under torchrun with several local ranks is
/// therefore taken for torchrun's default and not for a wish; who really wants one thread says
/// TITAN_NUM_THREADS=1. More than `maxThreads` are refused.
int chooseThreadCount(const LaunchInfo &launch, int share,
                      const EnvironmentLookup &environment = processEnvironment());

} // namespace titan::rt
