// What every verb is given: the global flags and where to write. Made once by main; thread-
// compatible. Answers go to `out`, everything else (progress, warnings, errors) to `err`.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/dynbenchctl/exit_code.h"

namespace dynbench::cli {

using Json = nlohmann::json;

inline constexpr char kDefaultCoordinator[] = "127.0.0.1:7411";

struct Globals {
  std::string coordinator = kDefaultCoordinator;  // host:port
  std::string db;                                 // file; empty: ask the coordinator
  bool json = false;
  bool quiet = false;
  std::string tls;  // folder with certificates (common/tls/folder.h); empty: no TLS
};

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool color = false;  // NO_COLOR is unset and `out` is a terminal
  int width = 100;     // columns
  int height = 24;     // rows
};

struct Context {
  Globals globals;
  Terminal terminal;
  std::string cwd;           // absolute; relative paths of the command line are relative to it
  std::string program_path;  // absolute path of this binary; the daemons are beside it

  std::ostream& out() { return terminal.out; }
  std::ostream& err() { return terminal.err; }
};

// What a verb's function returns: its exit code, or an operating error that main prints and turns
// into an exit code (ForStatus).
using VerbResult = absl::StatusOr<ExitCode>;

// Writes `json` indented by two, with a newline. Bytes that are not UTF-8 are replaced.
void PrintJson(Context& context, const Json& json);

// "dynbenchctl: <text>" on err, also under --quiet.
void PrintError(Context& context, const std::string& text);

// "note: <text>" on err unless --quiet.
void PrintNote(Context& context, const std::string& text);

// `path` made absolute against the caller's folder, lexically normalised.
std::string AbsolutePath(const Context& context, const std::string& path);

}  // namespace dynbench::cli
