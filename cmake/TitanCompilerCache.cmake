# ccache, where the machine has it: a second clean build then takes seconds, also one of another clone.
# For that, paths below the clone are hashed relative to the build folder.
find_program(TITAN_CCACHE ccache)
if(TITAN_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${TITAN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
