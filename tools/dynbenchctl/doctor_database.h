// What doctor finds of a database on this machine.
#pragma once

#include <string>
#include <vector>

namespace dynbench::cli {

struct Check {
  std::string name;
  bool fine = false;
  std::string finding;  // what was found, and the next step when it is not fine
};

// Its integrity, file system, write-ahead log with who holds it, and disk space. A file that is not
// here (the coordinator runs elsewhere) is one check that says so.
std::vector<Check> CheckDatabase(const std::string& path);

}  // namespace dynbench::cli
