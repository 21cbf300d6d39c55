# `cmake --install` and find_package(Titan), which also finds the build tree itself
# (-DTitan_DIR=build/lib/cmake/Titan). Installed files locate one another by relative paths, so the
# prefix may be moved.
include(CMakePackageConfigHelpers)
set(titan_package lib/cmake/Titan)
set(MLIR_VERSION_REQUIRED 19.1)

install(TARGETS titanc titan-opt titan-translate titan-interpret titan-lsp-server titan-predict titan-reduce RUNTIME DESTINATION bin)
set_target_properties(titanc titan-opt titan-translate titan-interpret titan-lsp-server titan-predict titan-reduce titan_dialects PROPERTIES
  INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS titan_base titan_dialects titan_sharding titan_mlir titan_warnings EXPORT TitanTargets
  LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
install(DIRECTORY stdlib/ DESTINATION share/titan/stdlib FILES_MATCHING PATTERN *.titan PATTERN *.toml PATTERN *.txt)

# titan-prepare: the Python package, its launcher, and a link to the launcher.
set(titan_prepare share/titan/titan-prepare)
install(DIRECTORY compiler/tools/titan-prepare/titan_prepare DESTINATION ${titan_prepare}
  FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(PROGRAMS compiler/tools/titan-prepare/titan-prepare DESTINATION ${titan_prepare})
install(FILES requirements-data.txt DESTINATION ${titan_prepare})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
file(CREATE_LINK ../${titan_prepare}/titan-prepare ${PROJECT_BINARY_DIR}/installed/titan-prepare SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/installed/titan-prepare DESTINATION bin)

# The compiler's headers, for plugins: written and generated ones, and TableGen's.
foreach(root ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  install(DIRECTORY ${root}/dialects DESTINATION include/titan-compiler
    FILES_MATCHING PATTERN *.h PATTERN *.td PATTERN *.h.inc PATTERN CMakeFiles EXCLUDE)
endforeach()

# Libraries that emitted programs link against and load.
install(TARGETS titan_runtime titan_runtime_main ARCHIVE DESTINATION lib)
install(TARGETS titan_c10d LIBRARY DESTINATION lib)
if(TARGET titan_runtime_cuda)
  install(TARGETS titan_runtime_cuda ARCHIVE DESTINATION lib)
endif()
install(DIRECTORY runtime/include/ DESTINATION include)
install(DIRECTORY base DESTINATION include/titan FILES_MATCHING PATTERN *.h)
install(FILES ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/installed/titan-runtime.json DESTINATION lib)

install(EXPORT TitanTargets NAMESPACE Titan:: DESTINATION ${titan_package})
export(EXPORT TitanTargets NAMESPACE Titan:: FILE ${PROJECT_BINARY_DIR}/${titan_package}/TitanTargets.cmake)
foreach(tree build install)
  set(TITAN_TOOLS_DIR bin)
  if(tree STREQUAL "build")
    set(folder ${PROJECT_BINARY_DIR}/${titan_package})
    set(prefix ${PROJECT_BINARY_DIR})
  else()
    set(folder ${PROJECT_BINARY_DIR}/package)
    set(prefix ${CMAKE_INSTALL_PREFIX})
  endif()
  configure_package_config_file(cmake/TitanConfig.cmake.in ${folder}/TitanConfig.cmake
    INSTALL_DESTINATION ${titan_package} INSTALL_PREFIX ${prefix} PATH_VARS TITAN_TOOLS_DIR)
  write_basic_package_version_file(${folder}/TitanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
endforeach()
configure_file(cmake/TitanPlugin.cmake ${PROJECT_BINARY_DIR}/${titan_package}/TitanPlugin.cmake COPYONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/TitanConfig.cmake
  ${PROJECT_BINARY_DIR}/package/TitanConfigVersion.cmake cmake/TitanPlugin.cmake
  DESTINATION ${titan_package})
