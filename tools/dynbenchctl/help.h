// Help texts, written from the command tree by our own formatter so that they are the same with
// every version of CLI11.
#pragma once

#include <memory>
#include <string>

#include "CLI/CLI.hpp"

namespace dynbench::cli {

// The group of the flags that every verb takes.
inline constexpr char kEveryVerb[] = "every verb";

// "dynbenchctl suite list": the words that lead to `app`.
std::string CommandPath(const CLI::App& app);

// False for a switch.
bool TakesValue(const CLI::Option& option);

// "--only NAME", "-n,--repeat N": names and value of an option as help shows them.
std::string OptionLabel(const CLI::Option& option);

// "usage: dynbenchctl logs [flags] JOB MODEL"
std::string UsageLine(const CLI::App& app);

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace dynbench::cli
