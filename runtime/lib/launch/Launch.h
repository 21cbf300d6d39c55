// The rank of this process. torchrun, Slurm's srun, an mpirun or a user starts the same
// binary; each passes the rank in its own environment variables. Only this file knows their names.
//
// Detection is a pure function of the environment, so tests can pass any environment. The first
// complete set wins (torchrun inside srun is torchrun):
//   torchrun   RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT
//   Open MPI   OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}
//   Slurm      SLURM_PROCID SLURM_STEP_NUM_TASKS|SLURM_NTASKS SLURM_LOCALID; only inside a step
//              (SLURM_STEP_ID). A batch script without srun also sees SLURM_PROCID=0 and
//              SLURM_NTASKS=N, and would wait for peers that never come.
//   PMI        PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS: mpiexec of MPICH and Intel MPI
//
// Errors: UserError, if variables contradict each other or are not numbers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

enum class Launcher { Alone, Torchrun, OpenMpi, Slurm, Pmi };

/// The launcher's name in messages.
const char *launcherName(Launcher launcher);

struct LaunchInfo {
  Launcher launcher = Launcher::Alone;
  int rank = 0;
  int worldSize = 1;
  int localRank = 0;      ///< index among the processes of this machine
  int localWorldSize = 1; ///< processes of this run on this machine
  /// Whether the launcher reports localWorldSize; otherwise all processes count as local.
  bool knowsLocalSize = true;
  /// The launcher's unique name of the run; empty if there is none.
  std::string job;
  std::string masterAddress = "127.0.0.1";
  int masterPort = 0; ///< 0 only for a single process
  /// torchrun's agent already serves a store at the master address and port, and every rank is a
  /// client. Otherwise rank 0 serves it.
  bool agentServesStore = false;
};

/// Looks up one variable; empty if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string &)>;

/// The environment of this process.
EnvironmentLookup processEnvironment();

/// The rank of this process and how it reaches the others, by these variables.
LaunchInfo detectLaunch(const EnvironmentLookup &environment = processEnvironment());

/// The hosts of a Slurm node list, at most `maxHosts`: "gpu[07-09,12],r[1-2]n[3-4]" -> gpu07,
/// gpu08, gpu09, gpu12, r1n3, r1n4, r2n3, r2n4. Any other text is one host.
std::vector<std::string> slurmHosts(const std::string &nodeList, size_t maxHosts);
std::string firstSlurmHost(const std::string &nodeList);

/// Tasks on `node` by the notation of SLURM_TASKS_PER_NODE: ("4(x2),3", 2) -> 3; 0 if it has none.
int slurmTasksOnNode(const std::string &tasksPerNode, int node);

/// The cores that a process may use (its affinity mask, set by containers and launchers), and its
/// machine.
struct CoreSet {
  std::array<uint64_t, 16> cores = {};
  uint64_t machine = 0;
};
CoreSet ownCores();

/// The number of cores for this rank, if each core is shared evenly by the ranks that may use it.
/// Launchers give ranks all cores of a machine, disjoint cores, or overlapping sets.
int fairShare(std::span<const CoreSet> ranks, int rank);

/// The number of cores that CoreSet can represent. OpenMP uses stack per thread of a team, and
/// 100,000 threads overflow it.
constexpr long maxThreads = 1024;

/// The number of OpenMP threads for this rank, given its fair share of cores.
///
/// TITAN_NUM_THREADS decides if it is set, then OMP_NUM_THREADS, else the share. One exception:
/// torchrun sets OMP_NUM_THREADS=1 for several processes if the variable was not set, "to avoid
/// your system being overloaded". So a 1 under torchrun with several local ranks counts as
/// torchrun's default. TITAN_NUM_THREADS=1 requests one thread. More than `maxThreads` are refused.
int chooseThreadCount(const LaunchInfo &launch, int share,
                      const EnvironmentLookup &environment = processEnvironment());

} // namespace titan::rt
