# Warnings are errors in the sources of Titan; generated code and external headers are exempt. So is
# clang, which warns about headers of GCC's library.
add_library(titan_warnings INTERFACE)
target_compile_options(titan_warnings INTERFACE
  -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Werror> -Wno-unused-parameter)
# g++ 12 sees overlapping copies in `"a" + std::string` (GCC bug 105651).
target_compile_options(titan_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
