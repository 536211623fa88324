# The three kinds of targets that the tree is made of. Every one gets the same warnings (as errors),
# sanitizers and include root, so a folder's CMakeLists.txt says only what it holds and what it needs.

option(DYNBENCH_CCACHE "Compile through ccache where it is installed" ON)
set(DYNBENCH_SANITIZE "" CACHE STRING "Comma-separated -fsanitize= list")

if(DYNBENCH_CCACHE)
  find_program(DYNBENCH_CCACHE_PROGRAM ccache)
  if(DYNBENCH_CCACHE_PROGRAM)
    # CCACHE_BASEDIR and no hash of the folder: worktrees and clones share one cache.
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
                 ${DYNBENCH_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  endif()
endif()

add_library(dynbench_options INTERFACE)
target_include_directories(dynbench_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(dynbench_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12, when it optimises, finds overlapping copies in `"text" + std::string` that are not there
  # (GCC bug 105651).
  target_compile_options(dynbench_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(dynbench_options INTERFACE -Wthread-safety)
endif()
if(DYNBENCH_SANITIZE)
  target_compile_options(dynbench_options INTERFACE -fsanitize=${DYNBENCH_SANITIZE}
                                                    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(dynbench_options INTERFACE -fsanitize=${DYNBENCH_SANITIZE})
endif()

# dynbench_library(NAME SOURCES a.cc b.cc DEPENDS target...)
function(dynbench_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC dynbench_options ${arg_DEPENDS})
endfunction()

# dynbench_binary(NAME SOURCES main.cc DEPENDS target...)
function(dynbench_binary name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE dynbench_options ${arg_DEPENDS})
endfunction()

# dynbench_unit_test(NAME SOURCES x_test.cc DEPENDS target...): a GoogleTest program, label "unit".
function(dynbench_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE dynbench_options GTest::gtest GTest::gmock GTest::gtest_main
                                        ${arg_DEPENDS})
  # Not optimised, a test's own source compiles a fifth faster. What it tests is built as always.
  set(test_sources ${arg_SOURCES})
  list(FILTER test_sources INCLUDE REGEX "_test\\.cc$")
  set_source_files_properties(${test_sources} PROPERTIES COMPILE_OPTIONS -O0)
  add_test(NAME unit.${name} COMMAND ${name})
  set(limit_s 60)
  if(DYNBENCH_SANITIZE)
    set(limit_s 300)  # several times as slow
  endif()
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT ${limit_s})
endfunction()
