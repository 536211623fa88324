#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {

void AddAllVerbs(CommandTree& tree) {
  AddSubmit(tree);
  AddStatus(tree);
  AddWatch(tree);
  AddWait(tree);
  AddResults(tree);
  AddCompare(tree);
  AddDurations(tree);
  AddHistory(tree);
  AddCalibrate(tree);
  AddExport(tree);
  AddLogs(tree);
  AddArtifacts(tree);
  AddExplain(tree);
  AddRepro(tree);
  AddCancel(tree);
  AddRetry(tree);
  AddWorkers(tree);
  AddHosts(tree);
  AddIdle(tree);
  AddEnv(tree);
  AddSuite(tree);
  AddDoctor(tree);
  AddBackup(tree);
  AddImport(tree);
  AddLocal(tree);
  AddCompletion(tree);
  AddVersion(tree);
}

}  // namespace dynbench::cli
