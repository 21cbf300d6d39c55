# titan_add_plugin(NAME SOURCES FILE... [DIALECT NAME TD FILE.td]): a library for
# titanc --load-pass-plugin=libNAME.so. With TD, classes of a dialect and its operations are
# generated: FILEDialect.h.inc and .cpp.inc, FILE.h.inc and .cpp.inc.
# LLVM's rules use Ninja's names of generated files. CMake since 3.20 would rename them again, and every
# build would regenerate them.
cmake_policy(SET CMP0116 OLD)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

function(titan_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "DIALECT;TD" "SOURCES")
  add_library(${name} MODULE ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE Titan::Dialects)
  if(ARG_TD)
    get_filename_component(file ${ARG_TD} NAME_WE)
    get_target_property(folders Titan::Dialects INTERFACE_INCLUDE_DIRECTORIES)
    list(APPEND folders ${MLIR_INCLUDE_DIRS})
    list(TRANSFORM folders PREPEND -I)
    set(LLVM_TARGET_DEFINITIONS ${ARG_TD})
    mlir_tablegen(${file}Dialect.h.inc -gen-dialect-decls -dialect=${ARG_DIALECT} ${folders})
    mlir_tablegen(${file}Dialect.cpp.inc -gen-dialect-defs -dialect=${ARG_DIALECT} ${folders})
    mlir_tablegen(${file}.h.inc -gen-op-decls -dialect=${ARG_DIALECT} ${folders})
    mlir_tablegen(${file}.cpp.inc -gen-op-defs -dialect=${ARG_DIALECT} ${folders})
    add_public_tablegen_target(${name}_tablegen)
    add_dependencies(${name} ${name}_tablegen)
  endif()
endfunction()
