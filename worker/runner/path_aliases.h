// Names without blanks for folders that have them.
//
// Inductor writes cache, temporary and header folders unquoted into compiler command lines, so one
// blank in a state folder's path would fail every model. A folder with such a name gets a symbolic
// link in a private folder under /tmp instead. Thread-compatible.
#pragma once

#include <string>
#include <vector>

namespace dynbench::runner {

class PathAliases {
 public:
  PathAliases() = default;
  ~PathAliases() { Clear(); }
  PathAliases(const PathAliases&) = delete;
  PathAliases& operator=(const PathAliases&) = delete;

  // `path` itself when a shell would take it as one plain word; else a link to it. The folder need
  // not exist yet. Throws std::runtime_error when no link can be made.
  std::string For(const std::string& path);

  // Removes the links (never what they point to).
  void Clear();

 private:
  std::string folder_;
  std::vector<std::string> links_;
};

}  // namespace dynbench::runner
