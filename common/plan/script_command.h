// What the engines `script` and `command` start for one experiment: its argument vector, and the
// rules of what may be asked of them. Pure.
//
// A vector keeps placeholders for what only the worker knows; it fills them in and stores the
// vector that it ran with the result (in force: "argv").
//   {python}        the environment's interpreter
//   {output}        the CSV file, in the attempt's own folder
//   {work_dir}      that folder
//   {model_file}    the local copy of a `path:` model
//   {device_index}  the accelerator, as torch numbers it; -1 on CPUs
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"
#include "common/plan/selection.h"

namespace dynbench::plan {

inline constexpr char kNativeEngine[] = "native";
inline constexpr char kScriptEngine[] = "script";
inline constexpr char kCommandEngine[] = "command";
// The suite of a program that was given without one.
inline constexpr char kCommandSuite[] = "command";

// InvalidArgument for an engine that is not known, a scripts folder that is missing or relative,
// a command that is missing, and whatever the engine could not pass on (never dropped silently).
// `configurations` are those that the request expands to.
absl::Status CheckEngine(const Request& request, const std::vector<Configuration>& configurations);

// True when the request's models come from its command alone: it names no suite and no model.
bool IsBareCommand(const Request& request);
// The one model of such a request: its name is the label, else the program's file name.
Selection SelectCommand(const Request& request);

// Fills in `engine`, `command` and the variables that stand for options without a flag. Everything
// else of `experiment` is decided already; `options` are its configuration's, before suite rules.
void ApplyEngine(const Request& request, const CompileOptions& options, Experiment* experiment);

// What upstream's parent passes to the child of one model: {python}, the suite's script, the flags,
// --output and --only, in the order of upstream's own documentation.
std::vector<std::string> ScriptCommand(const Request& request, const CompileOptions& options,
                                       const Experiment& experiment);

// Whether --set-env may set the variable for a script or a command: what torch, its libraries and
// OpenMP read. Never one that decides what is loaded, or that a worker sets itself.
bool ProgramMaySet(std::string_view variable);

}  // namespace dynbench::plan
