// The program of an experiment of the engines `script` and `command`: what is started for it on
// this host. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/configuration.h"
#include "worker/engine/child_environment.h"
#include "worker/engine/engine.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

// Folders that the program reaches under other names, or that belong to the engine.
struct ProgramFolders {
  std::string cache;    // of inductor; triton's is below it
  std::string tmp;      // TMPDIR
  std::string support;  // holds sitecustomize.py for scripts; see script_support.h
};

struct Program {
  std::vector<std::string> argv;  // placeholders filled in (common/plan/script_command.h)
  Variables variables;            // all that it gets
  std::string output;             // what {output} stands for
  bool is_script = false;         // one of upstream's scripts
};

// The experiment's command with its placeholders filled in, and its variables: the allow-list, the
// profile's, the experiment's own (those that plan::ProgramMaySet allows), then ours: cache
// folders, the slot's device, the environment's programs first in PATH.
Program MakeProgram(const AttemptSpec& spec, const Environment& environment,
                    const plan::LaunchProfile& profile, const std::vector<std::string>& preload,
                    const Variables& ours, const ProgramFolders& folders);

}  // namespace dynbench::worker
