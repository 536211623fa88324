# What `cmake --install` puts where. The layout is relocatable: dynbenchctl finds share/dynbench
# beside its own bin/, and dynbench-worker finds the runner's sources there. tools/bundle adds lib/.
include(GNUInstallDirs)

set(share ${CMAKE_INSTALL_DATADIR}/dynbench)
install(TARGETS dynbench-coordinator dynbench-worker dynbenchctl
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/suites/ DESTINATION ${share}/suites)

# The runner is compiled on each worker's host against that host's torch, so it ships as source, with
# its paths relative to the tree's root (worker/runner/sources.txt) and the headers that it includes.
foreach(folder worker/runner worker/process common/base common/stats)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/ DESTINATION ${share}/runner/${folder}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cc" PATTERN "*.py" PATTERN "sources.txt"
                         PATTERN "PROTOCOL.md" PATTERN "__pycache__" EXCLUDE)
endforeach()

install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        ${CMAKE_SOURCE_DIR}/tools/requirements.txt
        DESTINATION ${share})
