#include "worker/engine/script_support.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/sha256.h"
#include "common/base/status.h"
#include "worker/host/durable_file.h"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kSiteCustomize[] =
    R"py("""Stacks on SIGUSR1 and on a fatal signal; then the environment's own sitecustomize, if any."""
import faulthandler
import importlib.machinery
import importlib.util
import os
import signal
import sys

try:
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
except (AttributeError, OSError, RuntimeError, ValueError):
    pass
_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.machinery.PathFinder.find_spec(
    "sitecustomize", [p for p in sys.path if os.path.abspath(p or ".") != _here])
if _spec is not None and _spec.loader is not None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["sitecustomize"] = _module
    _spec.loader.exec_module(_module)
)py";

constexpr size_t kCommitDigits = 40;

std::string FirstWord(const std::string& text) { return text.substr(0, text.find_first_of(" \n")); }

std::string TextOf(const fs::path& path) {
  const auto text = ReadWholeFile(path.string());
  return text.ok() ? *text : std::string();
}

std::string CommitOf(const fs::path& git, const std::string& name) {
  std::string loose = FirstWord(TextOf(git / name));
  if (loose.size() >= kCommitDigits) return loose;
  for (const std::string& line : Split(TextOf(git / "packed-refs"), '\n')) {
    if (line.size() > kCommitDigits + 1 && line.substr(kCommitDigits + 1) == name) {
      return line.substr(0, kCommitDigits);
    }
  }
  return "";
}

// The commit of the checkout that holds `folder`; empty when there is none, or for a work tree that
// keeps its repository elsewhere.
std::string CheckoutCommit(fs::path folder) {
  while (true) {
    const fs::path git = folder / ".git";
    std::error_code error;
    if (fs::is_directory(git, error)) {
      const std::string head = TextOf(git / "HEAD");
      if (head.rfind("ref: ", 0) != 0) return FirstWord(head);
      return CommitOf(git, FirstWord(head.substr(5)));
    }
    if (!folder.has_relative_path()) return "";
    folder = folder.parent_path();
  }
}

}  // namespace

absl::Status WriteScriptSupport(const std::string& folder) {
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  return WriteFileDurably(folder + "/sitecustomize.py", kSiteCustomize);
}

std::map<std::string, std::string> DescribeScript(const std::string& script) {
  std::map<std::string, std::string> facts;
  const fs::path folder = fs::path(script).parent_path();
  facts["scripts.folder"] = folder.string();
  const auto text = ReadWholeFile(script);
  if (text.ok()) facts["scripts.sha256"] = Sha256Hex(*text);
  const std::string commit = CheckoutCommit(folder);
  if (!commit.empty()) facts["scripts.commit"] = commit;
  return facts;
}

void LinkTorchbench(const std::string& script, const std::string& work_dir) {
  const fs::path scripts = fs::path(script).parent_path();
  const fs::path root = scripts.parent_path().parent_path();  // benchmarks/dynamo is two below it
  std::error_code error;
  for (const fs::path& base : {scripts, scripts.parent_path(), root, root.parent_path()}) {
    for (const char* name : {"torchbenchmark", "torchbench", "benchmark"}) {
      const fs::path checkout = base / name;
      if (!fs::is_directory(checkout / "torchbenchmark", error)) continue;
      fs::create_directory_symlink(checkout, fs::path(work_dir) / "torchbenchmark", error);
      return;
    }
  }
}

}  // namespace dynbench::worker
