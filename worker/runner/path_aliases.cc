#include "worker/runner/path_aliases.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace dynbench::runner {
namespace {

bool IsPlain(unsigned char c) { return isalnum(c) != 0 || strchr("/._-+=:@,%", c) != nullptr; }

}  // namespace

std::string PathAliases::For(const std::string& path) {
  if (std::all_of(path.begin(), path.end(), IsPlain)) return path;
  if (folder_.empty()) {
    char name[] = "/tmp/dynbench-XXXXXX";
    if (mkdtemp(name) == nullptr) {
      throw std::runtime_error(std::string("a private folder in /tmp: ") + strerror(errno));
    }
    folder_ = name;
  }
  std::string link = folder_ + "/" + std::to_string(links_.size());
  if (symlink(path.c_str(), link.c_str()) != 0) {
    throw std::runtime_error("a link to " + path + ": " + strerror(errno));
  }
  links_.push_back(link);
  return link;
}

void PathAliases::Clear() {
  for (const std::string& link : links_) unlink(link.c_str());
  if (!folder_.empty()) rmdir(folder_.c_str());
  links_.clear();
  folder_.clear();
}

}  // namespace dynbench::runner
