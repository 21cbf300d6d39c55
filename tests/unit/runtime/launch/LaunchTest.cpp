// What a process learns from the variables of its launcher: rank, address, job, threads.
#include "launch/Launch.h"
#include "base/Error.h"

#include "launch/Libraries.h"
#include "launch/LoadedCode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

using namespace titan;
using namespace titan::rt;

namespace {

EnvironmentLookup fake(std::map<std::string, std::string> variables) {
  return [variables](const std::string &name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end())
      return std::nullopt;
    return found->second;
  };
}

// Without a launcher, the process is alone and needs no rendezvous.
TEST(Launch, AloneWithoutVariables) {
  LaunchInfo launch = detectLaunch(fake({}));
  EXPECT_EQ(launch.launcher, Launcher::Alone);
  EXPECT_EQ(launch.rank, 0);
  EXPECT_EQ(launch.worldSize, 1);
}

// torchrun's variables are read, and its agent's store is recognised.
TEST(Launch, Torchrun) {
  LaunchInfo launch = detectLaunch(fake({{"RANK", "5"},
                                         {"WORLD_SIZE", "8"},
                                         {"LOCAL_RANK", "1"},
                                         {"LOCAL_WORLD_SIZE", "4"},
                                         {"MASTER_ADDR", "node0"},
                                         {"MASTER_PORT", "1234"},
                                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  EXPECT_EQ(launch.launcher, Launcher::Torchrun);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.worldSize, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localWorldSize, 4);
  EXPECT_EQ(launch.masterAddress, "node0");
  EXPECT_EQ(launch.masterPort, 1234);
  EXPECT_TRUE(launch.agentServesStore);
}

// A port beyond the largest would silently wrap around.
TEST(Launch, RefusesLargePorts) {
  std::map<std::string, std::string> variables = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "65535"}};
  EXPECT_EQ(detectLaunch(fake(variables)).masterPort, 65535);
  variables["MASTER_PORT"] = "99999";
  EXPECT_THROW(detectLaunch(fake(variables)), UserError);
}

// torchrun inside a Slurm step is torchrun: the inner launcher wins.
TEST(Launch, TorchrunInsideSlurm) {
  LaunchInfo launch = detectLaunch(fake({{"RANK", "0"},
                                         {"WORLD_SIZE", "2"},
                                         {"MASTER_PORT", "1"},
                                         {"SLURM_PROCID", "3"},
                                         {"SLURM_STEP_ID", "0"},
                                         {"SLURM_NTASKS", "4"}}));
  EXPECT_EQ(launch.launcher, Launcher::Torchrun);
  EXPECT_EQ(launch.worldSize, 2);
}

// srun: rank 0's host is the first of the node list, and all ranks compute the same port.
TEST(Launch, Slurm) {
  std::map<std::string, std::string> common = {{"SLURM_NTASKS", "5"},
                                               {"SLURM_STEP_NUM_TASKS", "5"},
                                               {"SLURM_STEP_ID", "2"},
                                               {"SLURM_JOB_ID", "77"},
                                               {"SLURM_STEP_NODELIST", "gpu[07-08,12]"},
                                               {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};
  auto first = common, last = common;
  first.insert({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}});
  last.insert({{"SLURM_PROCID", "4"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "2"}});
  LaunchInfo a = detectLaunch(fake(first)), b = detectLaunch(fake(last));
  EXPECT_EQ(a.launcher, Launcher::Slurm);
  EXPECT_EQ(b.rank, 4);
  EXPECT_EQ(b.worldSize, 5);
  EXPECT_EQ(a.localWorldSize, 2);
  EXPECT_EQ(b.localWorldSize, 1);
  EXPECT_EQ(a.masterAddress, "gpu07");
  EXPECT_EQ(a.masterPort, b.masterPort);
  EXPECT_NE(a.masterPort, 0);
  EXPECT_FALSE(a.agentServesStore);
  EXPECT_EQ(a.job, "Slurm's step 77.2");
}

// The job name distinguishes ranks of different runs.
TEST(Launch, Job) {
  const std::map<std::string, std::string> own = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}};
  auto jobWith = [&](std::map<std::string, std::string> more) {
    more.insert(own.begin(), own.end());
    return detectLaunch(fake(more)).job;
  };
  EXPECT_EQ(jobWith({}), "");
  EXPECT_EQ(jobWith({{"TORCHELASTIC_RUN_ID", "none"}}), "");
  EXPECT_EQ(jobWith({{"TORCHELASTIC_RUN_ID", "abc"}}), "torchrun's abc");
  EXPECT_EQ(jobWith({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "3"}}), "Slurm's job 7");
}

// Without LOCAL_WORLD_SIZE, all processes count as local, but the local size is not known.
TEST(Launch, KnowsLocalSize) {
  std::map<std::string, std::string> own = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}};
  EXPECT_FALSE(detectLaunch(fake(own)).knowsLocalSize);
  own["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_TRUE(detectLaunch(fake(own)).knowsLocalSize);
}

// A batch script that starts the program without srun is one process, not rank 0 of many.
TEST(Launch, SlurmBatchScriptWithoutStepIsAlone) {
  LaunchInfo launch = detectLaunch(fake({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));
  EXPECT_EQ(launch.launcher, Launcher::Alone);
  EXPECT_EQ(launch.worldSize, 1);
}

// mpirun on one machine needs no address; the port derives from the job's name.
TEST(Launch, OpenMpiOnOneMachine) {
  LaunchInfo launch = detectLaunch(fake({{"OMPI_COMM_WORLD_RANK", "2"},
                                         {"OMPI_COMM_WORLD_SIZE", "4"},
                                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                         {"PMIX_NAMESPACE", "prterun-host-1@1"}}));
  EXPECT_EQ(launch.launcher, Launcher::OpenMpi);
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.masterAddress, "127.0.0.1");
  EXPECT_GE(launch.masterPort, 20000);
}

// mpirun on several machines needs rank 0's address, and the message explains how to pass it.
TEST(Launch, OpenMpiOnSeveralMachinesNeedsAddress) {
  try {
    detectLaunch(fake({{"OMPI_COMM_WORLD_RANK", "2"},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}));
    FAIL() << "expected an error";
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find("MASTER_ADDR"), std::string::npos);
  }
}

// mpiexec of MPICH, which names no job.
TEST(Launch, Pmi) {
  LaunchInfo launch = detectLaunch(fake(
      {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "4"}}));
  EXPECT_EQ(launch.launcher, Launcher::Pmi);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.worldSize, 4);
  EXPECT_EQ(launch.masterAddress, "127.0.0.1");
  EXPECT_GE(launch.masterPort, 20000);
  // On several machines it needs an address.
  EXPECT_THROW(detectLaunch(fake({{"PMI_RANK", "3"},
                                  {"PMI_SIZE", "4"},
                                  {"MPI_LOCALNRANKS", "2"},
                                  {"MPI_LOCALRANKID", "1"}})),
               UserError);
  EXPECT_THROW(detectLaunch(fake({{"PMI_RANK", "3"}})), UserError);
}

// Slurm's PMI plug-ins set PMI_RANK beside Slurm's own variables.
TEST(Launch, SlurmWithPmi) {
  LaunchInfo launch = detectLaunch(fake({{"PMI_RANK", "1"},
                                         {"PMI_SIZE", "2"},
                                         {"SLURM_PROCID", "1"},
                                         {"SLURM_STEP_ID", "0"},
                                         {"SLURM_STEP_NUM_TASKS", "2"},
                                         {"SLURM_LOCALID", "1"},
                                         {"SLURM_STEP_TASKS_PER_NODE", "2"},
                                         {"SLURM_STEP_NODELIST", "gpu7"}}));
  EXPECT_EQ(launch.launcher, Launcher::Slurm);
}

// Contradictory or invalid variables are user errors that name the variable.
TEST(Launch, RefusesInvalidVariables) {
  EXPECT_THROW(detectLaunch(fake({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "1"}})),
               UserError);
  EXPECT_THROW(detectLaunch(fake({{"RANK", "x"}, {"WORLD_SIZE", "4"}})), UserError);
  EXPECT_THROW(detectLaunch(fake({{"RANK", "0"}, {"WORLD_SIZE", "4"}})), UserError);
  EXPECT_THROW(detectLaunch(fake({{"RANK", "0"}})), UserError);
  EXPECT_THROW(detectLaunch(fake({{"WORLD_SIZE", "1"}})), UserError);
  EXPECT_THROW(detectLaunch(fake({{"OMPI_COMM_WORLD_RANK", "0"}})), UserError);
}

// The first host is found in every form of Slurm's node lists.
TEST(Launch, FirstSlurmHost) {
  EXPECT_EQ(firstSlurmHost("login"), "login");
  EXPECT_EQ(firstSlurmHost("a,b[1-2]"), "a");
  EXPECT_EQ(firstSlurmHost("gpu[07-09,12],z"), "gpu07");
  EXPECT_EQ(firstSlurmHost("gpu[3]"), "gpu3");
  EXPECT_EQ(firstSlurmHost("gpu[3-4]-ib,z"), "gpu3-ib");
  EXPECT_EQ(firstSlurmHost("r[1-2]n[3-4]"), "r1n3");
  EXPECT_EQ(firstSlurmHost("nid[000123-000125,000200]"), "nid000123");
  EXPECT_EQ(firstSlurmHost(""), "");
}

// Slurm's lists are expanded completely: the last bracket is fastest, and numbers keep the width of
// the first.
TEST(Launch, SlurmHosts) {
  using Hosts = std::vector<std::string>;
  const std::map<std::string, Hosts> lists = {
      {"login", {"login"}},
      {"a,b[1-2]", {"a", "b1", "b2"}},
      {"gpu[07-09,12],z", {"gpu07", "gpu08", "gpu09", "gpu12", "z"}},
      {"n[8-11]", {"n8", "n9", "n10", "n11"}},
      {"n[098-101]", {"n098", "n099", "n100", "n101"}},
      {"gpu-a-[7,9],login1", {"gpu-a-7", "gpu-a-9", "login1"}},
      {"r[1-2]n[3-4]", {"r1n3", "r1n4", "r2n3", "r2n4"}},
      {"r[1-2]n3,s", {"r1n3", "r2n3", "s"}},
      {"r[01-02]c[0,3]n[9-10]-ib",
       {"r01c0n9-ib", "r01c0n10-ib", "r01c3n9-ib", "r01c3n10-ib", "r02c0n9-ib", "r02c0n10-ib",
        "r02c3n9-ib", "r02c3n10-ib"}},
      {"x[a[1-2],b]", {"xa1", "xa2", "xb"}},
      {"broken[1-2", {"broken[1-2"}},
      {"odd[1-]", {"odd1-"}},
      {"[5-6]", {"5", "6"}}};
  for (const auto &[list, hosts] : lists)
    EXPECT_EQ(slurmHosts(list, 100), hosts) << list;
  EXPECT_EQ(slurmHosts("n[1-999999999]m[1-999999999]", 3), Hosts({"n1m1", "n1m2", "n1m3"}));
}

// Slurm's compressed task counts are expanded.
TEST(Launch, SlurmTasksOnNode) {
  EXPECT_EQ(slurmTasksOnNode("4(x2),3", 0), 4);
  EXPECT_EQ(slurmTasksOnNode("4(x2),3", 1), 4);
  EXPECT_EQ(slurmTasksOnNode("4(x2),3", 2), 3);
  EXPECT_EQ(slurmTasksOnNode("4(x2),3", 3), 0);
  EXPECT_EQ(slurmTasksOnNode("nonsense", 0), 0);
}

CoreSet cores(std::initializer_list<int> list, uint64_t machine = 0) {
  CoreSet set;
  set.machine = machine;
  for (int core : list)
    set.cores[core / 64] |= uint64_t{1} << core % 64;
  return set;
}

// Cores are divided evenly among the ranks that may use them, per machine; every rank gets at least
// one.
TEST(Launch, FairShare) {
  auto share = [](std::vector<CoreSet> ranks, int rank) { return fairShare(ranks, rank); };
  EXPECT_EQ(share({cores({0, 1, 2, 3})}, 0), 4);
  EXPECT_EQ(share({cores({0, 1, 2, 3}), cores({0, 1, 2, 3})}, 1), 2) << "all cores for all";
  EXPECT_EQ(share({cores({0, 1}), cores({2, 3})}, 1), 2) << "bound by the launcher";
  EXPECT_EQ(share({cores({0, 1, 2, 3, 70}), cores({0, 1})}, 0), 4) << "partly";
  EXPECT_EQ(share({cores({0}), cores({0}), cores({0})}, 2), 1);
  EXPECT_EQ(share({cores({0, 1}, 7), cores({0, 1}, 8)}, 0), 2) << "two machines";
  std::vector<CoreSet> six(6, cores({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fairShare(six, 3), 1) << "six sixths are one";
  EXPECT_GE(share({ownCores()}, 0), 1);
}

// A rank uses its share unless the user decides; torchrun's default of 1 is not a decision.
TEST(Launch, ThreadCount) {
  LaunchInfo alone;
  LaunchInfo torchrun;
  torchrun.launcher = Launcher::Torchrun;
  torchrun.worldSize = torchrun.localWorldSize = 4;
  EXPECT_EQ(chooseThreadCount(alone, 16, fake({})), 16);
  EXPECT_EQ(chooseThreadCount(alone, 16, fake({{"OMP_NUM_THREADS", "1"}})), 1);
  EXPECT_EQ(chooseThreadCount(torchrun, 4, fake({{"OMP_NUM_THREADS", "1"}})), 4);
  EXPECT_EQ(chooseThreadCount(torchrun, 4, fake({{"OMP_NUM_THREADS", "3"}})), 3);
  EXPECT_EQ(
      chooseThreadCount(torchrun, 4, fake({{"OMP_NUM_THREADS", "1"}, {"TITAN_NUM_THREADS", "1"}})),
      1);
  EXPECT_EQ(chooseThreadCount(alone, 16, fake({{"OMP_NUM_THREADS", "4,2"}})), 4);
  EXPECT_EQ(chooseThreadCount(alone, 16, fake({{"OMP_NUM_THREADS", "1024"}})), 1024);
  for (const char *wrong : {"x", "0", "-1", "4x", "1025", "100000", "99999999999999999999"})
    EXPECT_THROW(chooseThreadCount(alone, 4, fake({{"TITAN_NUM_THREADS", wrong}})), UserError);
  for (const char *many : {"1025", "100000", "99999999999999999999", "5000,2"})
    EXPECT_THROW(chooseThreadCount(alone, 4, fake({{"OMP_NUM_THREADS", many}})), UserError);
}

/// Resident file pages.
int64_t getResidentFileBytes() {
  int64_t size = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared;
}

/// Reads one byte of every page of LibTorch's code.
void touchLibTorch() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char mode[5] = "";
    if (line.find(kLibTorch) == std::string::npos ||
        std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, mode) != 3 || mode[2] != 'x')
      continue;
    for (uintptr_t at = begin; at < end; at += 4096)
      static_cast<void>(*reinterpret_cast<const volatile char *>(at));
  }
}

// Touched pages of loaded code are released, and the code still runs.
TEST(Launch, ReleasesLoadedCode) {
  openLibrary(kLibTorch, "is tested");
  touchLibTorch();
  const int64_t before = getResidentFileBytes();
  releaseLoadedCode();
  EXPECT_LT(2 * getResidentFileBytes(), before);
  EXPECT_EQ(std::to_string(std::stod("1.5")), "1.500000");
}

// A failed load names the library's purpose and a remedy.
TEST(Launch, LibraryThatIsNotThere) {
  try {
    openLibrary("libabsent.so", "does nothing");
    FAIL() << "expected an error";
  } catch (const Fault &fault) {
    EXPECT_THAT(fault.what(), testing::StartsWith("cannot load libabsent.so, which does nothing"));
    EXPECT_THAT(fault.what(), testing::HasSubstr("LD_LIBRARY_PATH"));
  }
}

} // namespace
