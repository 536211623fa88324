#include "common/base/version.h"
#include "common/store/store.h"
#include "proto/dynbench/convert.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

VerbResult Version(Context& context) {
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.version/1"},
                        {"version", kVersion},
                        {"protocol_version", proto::kProtocolVersion},
                        {"schema_version", store::kSchemaVersion}});
  } else {
    context.out() << "dynbenchctl " << kVersion << " (protocol " << proto::kProtocolVersion
                  << ", store schema " << store::kSchemaVersion << ")\n";
  }
  return ExitCode::kDone;
}

}  // namespace

void AddVersion(CommandTree& tree) {
  tree.AddVerb("version", "Versions of this program, its protocol and its store.", &Version);
}

}  // namespace dynbench::cli
