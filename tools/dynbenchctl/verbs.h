// The function of each verb file that adds its verbs to the tree. One file a verb or group.
#pragma once

#include "tools/dynbenchctl/command_tree.h"

namespace dynbench::cli {

void AddSubmit(CommandTree& tree);  // submit, plan
void AddWait(CommandTree& tree);
void AddStatus(CommandTree& tree);
void AddWatch(CommandTree& tree);
void AddResults(CommandTree& tree);
void AddExport(CommandTree& tree);
void AddLogs(CommandTree& tree);
void AddArtifacts(CommandTree& tree);
void AddCompare(CommandTree& tree);
void AddDurations(CommandTree& tree);
void AddHistory(CommandTree& tree);
void AddCalibrate(CommandTree& tree);
void AddCancel(CommandTree& tree);
void AddRetry(CommandTree& tree);
void AddRepro(CommandTree& tree);
void AddExplain(CommandTree& tree);
void AddWorkers(CommandTree& tree);  // and drain, release, quarantine
void AddHosts(CommandTree& tree);
void AddIdle(CommandTree& tree);
void AddEnv(CommandTree& tree);                             // list, show
void AddEnvMakers(CommandTree& tree, CLI::App* env_group);  // build, derive, gc
void AddSuite(CommandTree& tree);
void AddDoctor(CommandTree& tree);
void AddBackup(CommandTree& tree);
void AddImport(CommandTree& tree);
void AddLocal(CommandTree& tree);
void AddCompletion(CommandTree& tree);
void AddVersion(CommandTree& tree);

}  // namespace dynbench::cli
