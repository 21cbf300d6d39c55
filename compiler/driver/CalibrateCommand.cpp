// `titanc calibrate`: measures this machine and writes a machine file.
//
// The programs of stdlib/machines/calibration.titan are compiled as a user's are, and run with a
// profile. So the rates are those that compiled programs reach, and no second implementation of a
// kernel is measured.
#include "base/Error.h"
#include "base/HostName.h"
#include "base/machine/MachineFile.h"
#include "compiler/calibration/Fit.h"
#include "compiler/driver/Build.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Notice.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Paths.h"
#include "compiler/driver/RunSummary.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace titan::driver {
namespace {

using calibration::Samples;

/// One run of the calibration program.
struct Measurement {
  std::string train;   ///< "device" or "links"
  std::string compute; ///< the element type of products
  int64_t processes = 1;
};

class Calibrator {
public:
  Calibrator(const CommonOptions &common, std::string directory)
      : common(common), directory(std::move(directory)) {}

  /// The samples of a run. Nothing after an error, which is printed.
  std::optional<Samples> measure(const Measurement &measurement) {
    CommonOptions options = common;
    options.file = join(join(findStandardLibrary(), "machines"), "calibration.titan");
    options.train = measurement.train;
    options.overrides = {"precision.compute=" + measurement.compute};
    CompilerInstance instance(options);
    std::optional<Samples> samples = measure(instance, measurement);
    instance.finish();
    return samples;
  }

private:
  std::optional<Samples> measure(CompilerInstance &instance, const Measurement &measurement) {
    std::optional<sema::CheckedRun> run = instance.checkRun();
    if (!run)
      return std::nullopt;
    std::optional<RunSummary> summary =
        makeRunSummary(instance, *run, measurement.processes, /*threads=*/0);
    const std::string executable = summary ? build(instance, *run) : "";
    if (executable.empty())
      return std::nullopt;
    const std::string out = join(directory, measurement.train + "-" + measurement.compute);
    if (!execute(instance, executable, out, measurement.processes))
      return std::nullopt;
    return readSamples(instance, *summary, join(out, "profile/rank-0.json"));
  }

  std::string build(CompilerInstance &instance, const sema::CheckedRun &run) {
    std::optional<std::string> source = emitSource(instance, run, emission::Target::Cpu);
    if (source)
      toolchain = Toolchain::find(emission::Target::Cpu, instance.diags);
    if (!source || !toolchain)
      return "";
    return buildCached(*source, "calibration", *toolchain, instance.diags);
  }

  bool execute(CompilerInstance &instance, const std::string &executable, const std::string &out,
               int64_t processes) {
    std::vector<std::string> command =
        makeLaunchCommand(*toolchain, processes, executable, instance.diags);
    if (command.empty())
      return false;
    constexpr const char *steps = "14", *profile = "--profile=12"; // from the third step on
    command.insert(command.end(), {"--out", out, "--steps", steps, profile});
    const std::string log = out + ".log";
    if (runProgram(command, log, log) == 0)
      return true;
    std::string why;
    if (auto text = llvm::MemoryBuffer::getFile(log))
      why = (*text)->getBuffer().rtrim().rsplit('\n').second.str();
    instance.diags.report(Code::CannotCalibrate, Location(),
                          "the calibration program failed: " + why);
    return false;
  }

  std::optional<Samples> readSamples(CompilerInstance &instance, const RunSummary &summary,
                                     const std::string &file) {
    try {
      auto text = llvm::MemoryBuffer::getFile(file);
      if (!text)
        throw UserError("cannot read `" + file + "`: " + text.getError().message());
      return calibration::joinSamples(summary.step, "train",
                                      calibration::readProfile((*text)->getBuffer()));
    } catch (const UserError &error) {
      instance.diags.report(Code::CannotCalibrate, Location(), error.what());
      return std::nullopt;
    }
  }

  const CommonOptions &common;
  std::string directory;
  std::optional<Toolchain> toolchain;
};

/// This machine without rates.
Machine describeHost() {
  Machine machine;
  Device &device = machine.device;
  device.cores = std::max(1U, std::thread::hardware_concurrency());
  device.memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  machine.name = hostName() + ", " + std::to_string(static_cast<int64_t>(device.cores)) + " cores";
  return machine;
}

calibration::CacheSizes getCacheSizes(double cores) {
  const auto level2 = static_cast<double>(std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE)));
  const auto level3 = static_cast<double>(std::max(0L, ::sysconf(_SC_LEVEL3_CACHE_SIZE)));
  return {level2 * cores, level3};
}

/// Reports an environment in which programs would not use all cores.
bool checkThreads(DiagnosticEngine &diags) {
  const char *limit = std::getenv("OMP_NUM_THREADS");
  if (!limit || std::atoi(limit) >= static_cast<int>(std::thread::hardware_concurrency()))
    return true;
  diags
      .report(Code::CannotCalibrate, Location(),
              "OMP_NUM_THREADS = " + std::string(limit) +
                  " limits programs to a part of this machine's cores")
      .help("unset OMP_NUM_THREADS");
  return false;
}

/// Reports, before minutes of measurement, a folder in which the file cannot be written.
bool checkOutput(const std::string &output, DiagnosticEngine &diags) {
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(output));
  if (output == "-" || ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0)
    return true;
  reportWriteError(diags, output, std::error_code(errno, std::generic_category()));
  return false;
}

/// Nothing after an error, which is printed.
std::optional<Machine> calibrate(Calibrator &calibrator) {
  Machine machine = describeHost();
  std::vector<calibration::Sample<KernelWork>> kernels;
  for (const char *type : {"f32", "bf16"}) {
    Notice notice("measuring kernels of " + llvm::Twine(type) + " ...");
    std::optional<Samples> samples = calibrator.measure({"device", type, 1});
    if (!samples)
      return std::nullopt;
    kernels.insert(kernels.end(), samples->kernels.begin(), samples->kernels.end());
  }
  calibration::fitDevice(kernels, getCacheSizes(machine.device.cores), machine.device);
  Notice notice("measuring messages ...");
  constexpr int64_t ranks = 2;
  std::optional<Samples> samples = calibrator.measure({"links", "f32", ranks});
  if (!samples)
    return std::nullopt;
  machine.links = {calibration::fitLink(samples->collectives, ranks)};
  machine.links[0].stolen = 1; // the thread that communicates needs the core of the rank
  return machine;
}

} // namespace

int calibrateCommand(const CommonOptions &options, const CalibrateOptions &calibrate) {
  CompilerInstance instance(options);
  if (!checkThreads(instance.diags) || !checkOutput(calibrate.output, instance.diags))
    return instance.finish(1);
  llvm::SmallString<128> directory;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("titan-calibrate", directory)) {
    reportWriteError(instance.diags, "the temporary directory", error);
    return instance.finish(1);
  }
  auto remove = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(directory); });
  Calibrator calibrator(options, directory.str().str());
  std::optional<Machine> machine = driver::calibrate(calibrator);
  if (!machine)
    return instance.finish(1);
  if (std::error_code error = writeOutput(writeMachine(*machine), calibrate.output)) {
    reportWriteError(instance.diags, calibrate.output, error);
    return instance.finish(1);
  }
  if (calibrate.output != "-")
    llvm::outs() << "wrote " << calibrate.output << "; use it with `titanc info FILE --machine "
                 << calibrate.output << "`\n";
  return instance.finish();
}

} // namespace titan::driver
