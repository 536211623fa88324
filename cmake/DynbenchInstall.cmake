# What `cmake --install` puts where. The layout is relocatable: dynbenchctl finds share/dynbench
# beside its own bin/, and dynbench-worker finds the runner's sources there. tools/bundle adds lib/.
include(GNUInstallDirs)

install(TARGETS dynbench-coordinator dynbench-worker dynbenchctl
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/suites/ DESTINATION ${CMAKE_INSTALL_DATADIR}/dynbench/suites)
# The runner is compiled on each worker's host against that host's torch, so it ships as source.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/worker/runner/ DESTINATION ${CMAKE_INSTALL_DATADIR}/dynbench/runner
        PATTERN "__pycache__" EXCLUDE
        PATTERN "CMakeLists.txt" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        ${CMAKE_SOURCE_DIR}/tools/requirements.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/dynbench)
