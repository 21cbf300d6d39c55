# CUDA for the runtime, if an nvcc is found. Headers and libraries come from the environment of LibTorch
# (nvidia/cu13, nvidia/nccl), so no system toolkit is needed except nvcc, which may also come from that
# environment (scripts/setup --cuda). nvcc is called directly, because CMake 3.25 does not know this CUDA
# and would compile for devices that it no longer supports.
get_filename_component(titan_site_packages ${TITAN_TORCH_DIR} DIRECTORY)
find_program(TITAN_NVCC nvcc HINTS ${titan_site_packages}/nvidia/cu13/bin PATHS /usr/local/cuda/bin)
find_path(TITAN_NCCL_INCLUDE nccl.h HINTS ${titan_site_packages}/nvidia/nccl/include)
find_path(TITAN_CUDA_INCLUDE cuda_runtime_api.h
  HINTS ${titan_site_packages}/nvidia/cu13/include PATHS /usr/local/cuda/include)
set(titan_cuda_default OFF)
if(TITAN_NVCC AND TITAN_NCCL_INCLUDE AND TITAN_CUDA_INCLUDE)
  set(titan_cuda_default ON)
endif()
option(TITAN_CUDA "Build the runtime for CUDA devices too" ${titan_cuda_default})
if(NOT TITAN_CUDA)
  return()
endif()
if(NOT titan_cuda_default)
  message(FATAL_ERROR "TITAN_CUDA needs nvcc and the headers of CUDA and NCCL: try scripts/setup --cuda")
endif()
set(TITAN_CUDA_ARCH 90 CACHE STRING "compute capability that the runtime's CUDA kernels are for")

add_library(titan_cuda INTERFACE)
target_include_directories(titan_cuda SYSTEM INTERFACE ${TITAN_CUDA_INCLUDE} ${TITAN_NCCL_INCLUDE})
# LibTorch registers its devices when libtorch_cuda is loaded, and its groups need NCCL: both are
# linked whether a symbol asks for them or not.
set(titan_cuda_link -Wl,--push-state,--no-as-needed
  ${TITAN_TORCH_DIR}/lib/libtorch_cuda.so ${TITAN_TORCH_DIR}/lib/libc10_cuda.so)
foreach(library cu13/lib/libcudart.so.13 cu13/lib/libcublas.so.13 nccl/lib/libnccl.so.2)
  set(file ${titan_site_packages}/nvidia/${library})
  get_filename_component(folder ${file} DIRECTORY)
  list(APPEND titan_cuda_link ${file} "-Wl,-rpath,${folder}")
endforeach()
list(APPEND titan_cuda_link -Wl,--pop-state)
target_link_libraries(titan_cuda INTERFACE ${titan_cuda_link})

# titan_cuda_object(OUT FILE.cu INCLUDE...): compiles one .cu file; OUT is the object's path.
function(titan_cuda_object out source)
  get_filename_component(name ${source} NAME)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(includes)
  foreach(folder IN LISTS ARGN)
    list(APPEND includes -I${folder})
  endforeach()
  add_custom_command(OUTPUT ${object}
    COMMAND ${TITAN_NVCC} -std=c++20 -O3 -arch=sm_${TITAN_CUDA_ARCH} -Xcompiler -fPIC ${includes}
      -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
  set(${out} ${object} PARENT_SCOPE)
endfunction()
