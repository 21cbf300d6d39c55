# ccache, where the machine has it: a second clean build then takes seconds.
find_program(TITAN_CCACHE ccache)
if(TITAN_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${TITAN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TITAN_CCACHE})
endif()
