#include "tools/dynbenchctl/context.h"

#include <filesystem>

#include "common/formats/results_json.h"

namespace dynbench::cli {

void PrintJson(Context& context, const Json& json) { context.out() << formats::JsonText(json); }

void PrintError(Context& context, const std::string& text) {
  context.err() << "dynbenchctl: " << text << "\n";
}

void PrintNote(Context& context, const std::string& text) {
  if (!context.globals.quiet) context.err() << "note: " << text << "\n";
}

std::string AbsolutePath(const Context& context, const std::string& path) {
  return (std::filesystem::path(context.cwd) / path).lexically_normal().string();
}

}  // namespace dynbench::cli
