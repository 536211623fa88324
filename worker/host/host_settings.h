// How this host is set up, beyond what it is made of: what an administrator or a boot may change
// and timings depend on.
#pragma once

#include <map>
#include <string>

namespace dynbench::worker {

// Name for people -> value, only of what this kernel tells: "governor" (of all CPUs, each kind
// once, sorted, ", " between), "turbo" ("on"/"off"), "SMT" ("on", "off", …), "transparent huge
// pages" ("madvise"), "NUMA balancing" ("on"/"off"), "microcode", "virtual machine" ("yes"/"no"),
// "C++ compiler" (the first line of `c++ --version`, the compiler that inductor takes when $CXX
// names no other).
//
// `root` is "" on a real host; tests give a folder that holds proc/ and sys/. The compiler is asked
// only on a real host.
std::map<std::string, std::string> ReadHostSettings(const std::string& root);

// The same without the compiler, which takes a process to ask, and with "allowed cores" of this
// process ("0-3") and "GPU driver": what may change under an attempt. Milliseconds.
std::map<std::string, std::string> ReadChangingSettings(const std::string& root);

// "turbo was on, is off; SMT was absent, is on"; empty: all is as before. Pure.
std::string ChangedSettings(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& after);

}  // namespace dynbench::worker
