"""How the tests of this folder run.

RUN lines name tools plainly (`titan-opt %s | FileCheck %s`); lit replaces the names by full paths,
so an installed tool of the same name can never be tested by accident. A tool that is not built
makes its tests unsupported when they say `REQUIRES: <tool>`, and fails them otherwise.
"""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import FindTool, ToolSubst

config.name = "Titan"
config.test_format = lit.formats.ShTest(execute_external=not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".titan", ".test"]
# `Inputs` holds files that tests read: modules to import, texts, weights.
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.titan_binary_dir, "tests", "lit")

config.substitutions += [
    # A printed module contains its source text, whose check lines would otherwise match themselves.
    ("%without_text", "sed 's/titan.source = \"[^\"]*\"//'"),
    ("%examples", os.path.join(config.titan_source_dir, "examples")),
    ("%stdlib", os.path.join(config.titan_source_dir, "stdlib")),
    ("%titan_source", config.titan_source_dir),
]

TITAN_TOOLS = ["titan-opt", "titan-translate", "titan-interpret", "titan-syntax", "titan-predict", "titan-reduce", "titan-lsp-server",
               "titanc"]
LLVM_TOOLS = ["FileCheck", "count", "not", "split-file"]

llvm_config.with_environment("PATH", config.titan_tools_dir, append_path=True)
llvm_config.add_tool_substitutions([ToolSubst(t, unresolved="fatal") for t in LLVM_TOOLS],
                                   [config.llvm_tools_dir])
llvm_config.add_tool_substitutions([ToolSubst(t, unresolved="ignore") for t in TITAN_TOOLS],
                                   [config.titan_tools_dir])
for tool in TITAN_TOOLS:
    if os.path.exists(os.path.join(config.titan_tools_dir, tool)):
        config.available_features.add(tool)

# Diagnostics are compared as text: no colours, no locale of the machine.
config.environment["LC_ALL"] = "C"
config.environment["NO_COLOR"] = "1"
# titanc compiles and caches programs: into the build folder, never into the user's home.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.titan_binary_dir, "tests", "cache")
for name in ("CC", "CXX", "CCACHE_DIR", "OMP_NUM_THREADS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Plugin with passes that insert faults into programs (tests/faults).
faults = os.path.join(config.titan_binary_dir, "lib", "libtitan-faults.so")
if os.path.exists(faults):
    config.available_features.add("titan-faults")
    config.substitutions.append(("%faults", faults))

if os.path.exists(os.path.join(config.titan_binary_dir, "lib", "libtitan_runtime_cuda.a")):
    config.available_features.add("cuda-runtime")
if config.titan_nvcc and os.path.exists(config.titan_nvcc):
    config.available_features.add("nvcc")
    config.substitutions.append(("%nvcc", config.titan_nvcc))

# A runtime for CUDA devices is built on request (-DTITAN_CUDA=ON).
runtime = os.path.join(config.titan_binary_dir, "lib", "titan-runtime.json")
if os.path.exists(runtime) and '"cuda"' in open(runtime, encoding="utf-8").read():
    config.available_features.add("cuda-runtime")

# Sanitizers reserve terabytes of addresses, and their code names the folder that it was compiled in.
if "-fsanitize=" in config.titan_cxx_flags:
    config.available_features.add("sanitizer")
