# LibTorch: -DTITAN_TORCH_DIR, else the choice of `scripts/setup --torch`, else the one in the virtual
# environment of the project. The target titan_torch replaces find_package(Torch), whose CUDA module
# requires a toolkit even for a CPU program.
set(TITAN_TORCH_DIR "" CACHE PATH "the torch/ folder of a LibTorch installation")
# The environment may have been replaced since the last configuration.
if(NOT TITAN_TORCH_DIR OR NOT EXISTS "${TITAN_TORCH_DIR}/lib/libtorch_cpu.so")
  set(_torch)
  if(EXISTS "${CMAKE_SOURCE_DIR}/.venv/torch-dir")
    file(READ "${CMAKE_SOURCE_DIR}/.venv/torch-dir" _torch)
  else()
    file(GLOB _torch "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  endif()
  if(NOT _torch)
    message(FATAL_ERROR "LibTorch not found: run scripts/setup, or pass -DTITAN_TORCH_DIR=DIR")
  endif()
  list(GET _torch 0 _torch_first)
  set(TITAN_TORCH_DIR "${_torch_first}" CACHE PATH "the torch/ folder of a LibTorch installation" FORCE)
endif()

add_library(titan_torch INTERFACE)
target_include_directories(titan_torch SYSTEM INTERFACE
  ${TITAN_TORCH_DIR}/include ${TITAN_TORCH_DIR}/include/torch/csrc/api/include)
target_link_libraries(titan_torch INTERFACE
  ${TITAN_TORCH_DIR}/lib/libtorch_cpu.so ${TITAN_TORCH_DIR}/lib/libc10.so)
