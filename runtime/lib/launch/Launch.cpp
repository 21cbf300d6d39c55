#include "Launch.h"

#include "base/Error.h"

#include <algorithm>
#include <cstdlib>

namespace titan::rt {

const char *launcherName(Launcher launcher) {
  switch (launcher) {
  case Launcher::Alone:
    return "no launcher";
  case Launcher::Torchrun:
    return "torchrun";
  case Launcher::OpenMpi:
    return "mpirun";
  case Launcher::Slurm:
    return "srun";
  case Launcher::Pmi:
    return "mpiexec";
  }
  return "?";
}

EnvironmentLookup processEnvironment() {
  return [](const std::string &name) -> std::optional<std::string> {
    const char *value = std::getenv(name.c_str());
    if (!value)
      return std::nullopt;
    return std::string(value);
  };
}

namespace {

/// Reads numbers from an environment; errors name the variable.
class Reader {
public:
  explicit Reader(const EnvironmentLookup &environment) : environment(environment) {}

  std::optional<std::string> text(const std::string &name) const {
    auto value = environment(name);
    if (value && value->empty())
      return std::nullopt;
    return value;
  }
  bool has(const std::string &name) const { return text(name).has_value(); }

  std::optional<int> number(const std::string &name) const {
    auto value = text(name);
    if (!value)
      return std::nullopt;
    char *end = nullptr;
    long parsed = std::strtol(value->c_str(), &end, 10);
    if (*end != '\0' || parsed < 0 || parsed > (1L << 30))
      throw UserError("the environment variable " + name + " is '" + *value +
                      "', expected a non-negative integer");
    return static_cast<int>(parsed);
  }
  int numberOr(const std::string &name, int fallback) const {
    return number(name).value_or(fallback);
  }

private:
  const EnvironmentLookup &environment;
};

/// A port that all ranks of a job compute, and that other jobs on the host rarely share.
int portFromJobName(const std::string &name) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 16777619u;
  return 20000 + static_cast<int>(hash % 20000u);
}

void validate(const LaunchInfo &launch) {
  std::string by = std::string(" (set by ") + launcherName(launch.launcher) + ")";
  if (launch.worldSize < 1 || launch.rank >= launch.worldSize)
    throw UserError("the environment says rank " + std::to_string(launch.rank) + " of " +
                    std::to_string(launch.worldSize) + by + ", which cannot be");
  if (launch.localWorldSize < 1 || launch.localRank >= launch.localWorldSize)
    throw UserError("the environment says local rank " + std::to_string(launch.localRank) + " of " +
                    std::to_string(launch.localWorldSize) + by + ", which cannot be");
  if (launch.worldSize > 1 && launch.masterPort == 0)
    throw UserError("several processes were started, but MASTER_PORT is not set" + by);
  if (launch.masterPort > 65535)
    throw UserError("MASTER_PORT is " + std::to_string(launch.masterPort) + by +
                    ", but the largest port is 65535");
}

LaunchInfo fromTorchrun(const Reader &read) {
  LaunchInfo launch;
  launch.launcher = Launcher::Torchrun;
  launch.rank = *read.number("RANK");
  launch.worldSize = *read.number("WORLD_SIZE");
  launch.localRank = read.numberOr("LOCAL_RANK", launch.rank);
  launch.localWorldSize = read.numberOr("LOCAL_WORLD_SIZE", launch.worldSize);
  launch.knowsLocalSize = read.has("LOCAL_WORLD_SIZE");
  launch.masterAddress = read.text("MASTER_ADDR").value_or("127.0.0.1");
  launch.masterPort = read.numberOr("MASTER_PORT", 0);
  launch.agentServesStore = read.text("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  // torchrun uses "none" for a missing name. A script that sets RANK may start each rank as a
  // separate step, so ranks share only the job.
  if (auto run = read.text("TORCHELASTIC_RUN_ID"); run && *run != "none")
    launch.job = "torchrun's " + *run;
  else if (auto job = read.text("SLURM_JOB_ID"))
    launch.job = "Slurm's job " + *job;
  return launch;
}

/// An mpirun passes no host of rank 0; `remedy` is the command that does.
void readMasterAddress(const Reader &read, LaunchInfo &launch, const std::string &remedy) {
  if (auto address = read.text("MASTER_ADDR"))
    launch.masterAddress = *address;
  else if (launch.localWorldSize != launch.worldSize)
    throw UserError(
        std::string(launcherName(launch.launcher)) +
        " started processes on several machines without the address of rank 0; pass it: " + remedy);
}

LaunchInfo fromOpenMpi(const Reader &read) {
  LaunchInfo launch;
  launch.launcher = Launcher::OpenMpi;
  launch.rank = *read.number("OMPI_COMM_WORLD_RANK");
  launch.worldSize = *read.number("OMPI_COMM_WORLD_SIZE");
  launch.localRank = read.numberOr("OMPI_COMM_WORLD_LOCAL_RANK", launch.rank);
  launch.localWorldSize = read.numberOr("OMPI_COMM_WORLD_LOCAL_SIZE", launch.worldSize);
  readMasterAddress(read, launch, "mpirun -x MASTER_ADDR=HOST -x MASTER_PORT=29500 ...");
  if (auto name = read.text("PMIX_NAMESPACE"))
    launch.job = "mpirun's " + *name;
  std::string job =
      read.text("PMIX_NAMESPACE").value_or(read.text("OMPI_MCA_ess_base_jobid").value_or("mpirun"));
  launch.masterPort = read.numberOr("MASTER_PORT", portFromJobName(job));
  return launch;
}

/// PMI names no job, so all jobs of a host have one default port.
LaunchInfo fromPmi(const Reader &read) {
  LaunchInfo launch;
  launch.launcher = Launcher::Pmi;
  launch.rank = *read.number("PMI_RANK");
  launch.worldSize = *read.number("PMI_SIZE");
  launch.localRank = read.numberOr("MPI_LOCALRANKID", launch.rank);
  launch.localWorldSize = read.numberOr("MPI_LOCALNRANKS", launch.worldSize);
  launch.knowsLocalSize = read.has("MPI_LOCALNRANKS");
  readMasterAddress(read, launch, "mpiexec -env MASTER_ADDR HOST -env MASTER_PORT 29500 ...");
  launch.masterPort = read.numberOr("MASTER_PORT", portFromJobName("mpiexec"));
  return launch;
}

LaunchInfo fromSlurm(const Reader &read) {
  LaunchInfo launch;
  launch.launcher = Launcher::Slurm;
  launch.rank = *read.number("SLURM_PROCID");
  launch.worldSize = read.numberOr("SLURM_STEP_NUM_TASKS", read.numberOr("SLURM_NTASKS", 1));
  launch.localRank = read.numberOr("SLURM_LOCALID", 0);
  auto tasks = read.text("SLURM_STEP_TASKS_PER_NODE");
  if (!tasks)
    tasks = read.text("SLURM_TASKS_PER_NODE");
  int local = tasks ? slurmTasksOnNode(*tasks, read.numberOr("SLURM_NODEID", 0)) : 0;
  launch.localWorldSize = std::max(local, launch.localRank + 1);
  auto nodes = read.text("SLURM_STEP_NODELIST");
  if (!nodes)
    nodes = read.text("SLURM_JOB_NODELIST");
  if (auto address = read.text("MASTER_ADDR"))
    launch.masterAddress = *address;
  else if (nodes)
    launch.masterAddress = firstSlurmHost(*nodes);
  std::string job =
      read.text("SLURM_JOB_ID").value_or("slurm") + "." + read.text("SLURM_STEP_ID").value_or("0");
  launch.job = "Slurm's step " + job;
  launch.masterPort = read.numberOr("MASTER_PORT", portFromJobName(job));
  return launch;
}

/// Whether a launcher has set its variables. With one of them missing, each process would train
/// alone.
bool hasBoth(const Reader &read, const std::string &rank, const std::string &size) {
  const bool hasRank = read.has(rank);
  if (hasRank != read.has(size))
    throw UserError("the environment variable " + (hasRank ? rank : size) + " is set and " +
                    (hasRank ? size : rank) + " is not: set both, or neither for a single process");
  return hasRank;
}

} // namespace

LaunchInfo detectLaunch(const EnvironmentLookup &environment) {
  Reader read(environment);
  LaunchInfo launch;
  if (hasBoth(read, "RANK", "WORLD_SIZE"))
    launch = fromTorchrun(read);
  else if (hasBoth(read, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"))
    launch = fromOpenMpi(read);
  else if (read.has("SLURM_PROCID") && read.has("SLURM_STEP_ID"))
    launch = fromSlurm(read); // its PMI plug-ins set PMI_RANK too
  else if (hasBoth(read, "PMI_RANK", "PMI_SIZE"))
    launch = fromPmi(read);
  validate(launch);
  return launch;
}

int slurmTasksOnNode(const std::string &tasksPerNode, int node) {
  size_t at = 0;
  while (at < tasksPerNode.size()) {
    char *end = nullptr;
    long tasks = std::strtol(tasksPerNode.c_str() + at, &end, 10);
    size_t stop = end - tasksPerNode.c_str();
    if (stop == at)
      return 0;
    long repeat = 1;
    if (tasksPerNode.compare(stop, 2, "(x") == 0) {
      repeat = std::strtol(tasksPerNode.c_str() + stop + 2, &end, 10);
      stop = end - tasksPerNode.c_str() + 1; // past ')'
    }
    if (node < repeat)
      return static_cast<int>(tasks);
    node -= static_cast<int>(repeat);
    at = stop + 1; // past ','
  }
  return 0;
}

} // namespace titan::rt
