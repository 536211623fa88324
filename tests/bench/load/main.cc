// dynbench-load: many workers against a coordinator, for tests/bench. load_run.h says what it does.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "tests/bench/load/load_run.h"

int main(int argc, char** argv) {
  dynbench::load::Settings settings;
  CLI::App app("Many workers of a coordinator on one thread, for the benches");
  app.add_option("--coordinator", settings.coordinator, "host:port")->required();
  app.add_option("--workers", settings.workers, "how many")->check(CLI::Range(1, 100'000));
  app.add_option("--connections", settings.connections, "TCP connections; 0: one a worker");
  app.add_option("--rate", settings.rate, "results per second; 0: unbounded; negative: none");
  app.add_option("--samples", settings.samples, "a side of each result");
  app.add_flag("--starts", settings.starts, "tell the start of each attempt, too");
  app.add_option("--results", settings.results, "end after this many acknowledgements");
  app.add_option("--seconds", settings.seconds, "end this long after all are connected");
  app.add_option("--beat-interval-ms", settings.beat_interval_ms, "between a worker's beats");
  CLI11_PARSE(app, argc, argv);
  dynbench::load::Run(settings).Go();
  // Channels end their sockets one by one otherwise, which takes seconds for thousands of them.
  _exit(0);
}
