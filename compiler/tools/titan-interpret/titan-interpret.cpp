// titan-interpret: interprets the IR after any phase on virtual ranks. The command line of
// compiler/interpreter.

#include "compiler/interpreter/Driver.h"
#include "dialects/registration/RegisterAll.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

#include <cstdio>
#include <cstdlib>
#include <new>

using namespace llvm;

static cl::OptionCategory category("titan-interpret");

static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"),
                                 cl::cat(category));
static cl::opt<std::string>
    program("program", cl::value_desc("NAME[,NAME...]"), cl::cat(category),
            cl::desc("function to run (default: the first); of several, rank r runs the r-th"));
static cl::opt<std::string> compare("compare", cl::value_desc("OTHER.mlir"), cl::cat(category),
                                    cl::desc("run this module too and compare results by role"));
static cl::opt<double>
    tolerance("tolerance", cl::cat(category),
              cl::desc("relative 2-norm accepted by --compare and --check-decode "
                       "(default 1e-12) and --check-gradients (default 1e-6)"));
static cl::opt<bool> gradients("check-gradients", cl::cat(category),
                               cl::desc("compare gradients with differences of the loss, in f64"));
static cl::opt<bool>
    decode("check-decode", cl::cat(category),
           cl::desc("compare @prefill, @decode and @decode_batch, chunk by chunk, with @logits, "
                    "in f64"));
static cl::opt<bool> float64("float64", cl::cat(category),
                             cl::desc("make every floating-point tensor f64"));
static cl::opt<bool> gather("gather", cl::cat(category), cl::desc("print results whole"));
static cl::opt<bool> local("local", cl::cat(category), cl::desc("print what each rank holds"));
static cl::opt<int64_t> autoDegree("auto", cl::init(1), cl::cat(category),
                                   cl::desc("degree of the mesh axis whose degree is auto"));
static cl::opt<int64_t>
    ranks("ranks", cl::init(0), cl::cat(category),
          cl::desc("expected number of ranks; an error if the mesh has others"));
static cl::opt<int64_t> steps("steps", cl::init(1), cl::cat(category),
                              cl::desc("training steps, updates fed back"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::cat(category),
                              cl::desc("seed of initial values and generated inputs"));
static cl::opt<double> lr("lr", cl::cat(category),
                          cl::desc("learning rate of every step (default: that of the run)"));
static cl::opt<bool> learningRates("learning-rates", cl::cat(category),
                                   cl::desc("print the learning rates of --steps steps instead"));
static cl::opt<int64_t> vocab("vocab", cl::init(0), cl::cat(category),
                              cl::desc("bound of generated tokens"));
static cl::opt<std::string> inputs("inputs", cl::value_desc("FILE.safetensors"), cl::cat(category),
                                   cl::desc("inputs, parameters and state by name"));
static cl::opt<std::string> dump("dump", cl::value_desc("FILE.safetensors"), cl::cat(category),
                                 cl::desc("write the last step's results"));

static cl::list<std::string> dialectPlugins("load-dialect-plugin", cl::value_desc("FILE"),
                                            cl::cat(category),
                                            cl::desc("a library with dialects of your own"));

static titan::interpreter::DriverOptions readOptions() {
  titan::interpreter::DriverOptions options;
  options.file = file;
  options.program = program;
  options.compare = compare;
  options.inputs = inputs;
  options.dump = dump;
  options.settings.seed = seed;
  if (lr.getNumOccurrences())
    options.settings.lr = lr;
  options.learningRates = learningRates;
  options.settings.vocab = vocab;
  options.autoDegree = autoDegree;
  options.ranks = ranks;
  options.steps = steps;
  options.tolerance = tolerance.getNumOccurrences() ? tolerance : gradients ? 1e-6 : 1e-12;
  options.float64 = float64;
  options.gather = gather;
  options.local = local;
  options.checkGradients = gradients;
  options.checkDecode = decode;
  return options;
}

/// A program may request any amount of memory.
static void reportNoMemory() {
  std::fputs("titan-interpret: error: out of memory\n", stderr);
  std::_Exit(1);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  std::set_new_handler(reportNoMemory);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Titan's reference interpreter\n");
  mlir::DialectRegistry registry;
  titan::registerDialects(registry);
  for (const std::string &file : dialectPlugins) {
    Expected<mlir::DialectPlugin> plugin = mlir::DialectPlugin::load(file);
    if (!plugin) {
      errs() << "titan-interpret: " << toString(plugin.takeError()) << '\n';
      return 2;
    }
    plugin->registerDialectRegistryCallbacks(registry);
  }
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  return failed(titan::interpreter::drive(context, readOptions(), outs())) ? 1 : 0;
}
