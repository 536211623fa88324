// dynbenchctl: everything that a person types. See docs/cli.md.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tools/dynbenchctl/run.h"

namespace {

dynbench::cli::Terminal MakeTerminal() {
  dynbench::cli::Terminal terminal{std::cout, std::cerr};
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1 && !dumb;
  terminal.err_is_terminal = isatty(STDERR_FILENO) == 1 && !dumb;
  const char* no_color = std::getenv("NO_COLOR");
  terminal.color = terminal.out_is_terminal && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
      terminal.width = size.ws_col;
      terminal.height = size.ws_row;
      break;
    }
  }
  return terminal;
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC writes its own view of a coordinator that is away to stderr, where ours belongs.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // `dynbenchctl results 3 | head` ends quietly, as every filter does.
  std::signal(SIGPIPE, SIG_DFL);
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error).string();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int code = dynbench::cli::RunCommand(arguments, MakeTerminal(), cwd, program);
  // A table or CSV that did not reach its file must not look like one that did.
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "dynbenchctl: the answer could not be written to standard output ("
              << std::strerror(errno) << "); what was asked for did happen\n";
    return 3;
  }
  return code;
}
