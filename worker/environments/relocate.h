// Files of a virtual environment that name its own place: moved with it.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace dynbench::worker {

// Whether a file (its path in the environment) may name the environment's place and is text that
// may be changed: what is in bin/, pyvenv.cfg, *.pth, *.egg-link and direct_url.json.
bool MayNameItsPlace(std::string_view path);

// `text` with every `from` as a whole path replaced by `to`. A first line that starts an
// interpreter in `from` stays one that the kernel can carry out: where the path has blanks or is
// long, a shell starts it.
std::string Relocate(std::string_view text, std::string_view from, std::string_view to);

}  // namespace dynbench::worker
