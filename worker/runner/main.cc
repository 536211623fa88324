// dynbench-runner: worker/runner/PROTOCOL.md says how it is spoken to.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "worker/runner/zygote.h"

namespace {

constexpr int kUsage = 2;

int Usage(const char* problem) {
  fprintf(stderr,
          "dynbench-runner: %s\n"
          "usage: dynbench-runner --python PYTHON --shims DIR --fd N\n"
          "It is started by dynbench-worker, with a socket as descriptor N.\n",
          problem);
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  dynbench::runner::ZygoteOptions options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc) return Usage("an option lacks its value");
    if (strcmp(argv[i], "--python") == 0) {
      options.python = argv[i + 1];
    } else if (strcmp(argv[i], "--shims") == 0) {
      options.shims = argv[i + 1];
    } else if (strcmp(argv[i], "--fd") == 0) {
      options.fd = atoi(argv[i + 1]);  // tidy: allow, checked below
    } else {
      return Usage((std::string("unknown option ") + argv[i]).c_str());
    }
  }
  if (options.python.empty() || options.shims.empty()) return Usage("--python and --shims needed");
  if (fcntl(options.fd, F_SETFD, FD_CLOEXEC) != 0) return Usage("--fd is no open descriptor");
  signal(SIGPIPE, SIG_IGN);
  const int status = dynbench::runner::Zygote(options).Run();
  fflush(nullptr);
  _exit(status);  // no finalisation of libraries that forked children share
}
