#include "worker/agent/environment_work.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "worker/environments/collect.h"
#include "worker/environments/places.h"
#include "worker/environments/take_files.h"
#include "worker/host/durable_file.h"
#include "worker/process/spawn.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLogEveryMs = 250;
constexpr size_t kLogBytes = 1 << 20;
constexpr size_t kLogPiece = 200 << 10;
constexpr int kLookEveryMs = 200;
constexpr char kErrorPrefix[] = "dynbench-worker: ";
constexpr char kSend[] = "send";
constexpr size_t kDigestsOfReport = 5'000;

std::string Progress(int64_t done, int64_t all, int64_t bytes) {
  return absl::StrCat(done, " of ", all, " files, ", bytes >> 20, " MiB moved");
}

// What the tool said last: its error, else the end of its output.
std::string ErrorOf(const std::string& output) {
  const size_t at = output.rfind(kErrorPrefix);
  if (at != std::string::npos) return output.substr(at + sizeof kErrorPrefix - 1);
  return output.size() <= 3'000 ? output : output.substr(output.size() - 3'000);
}

std::optional<Environment> MadeWith(const std::string& environments_dir, const std::string& id) {
  for (const auto& [name, environment] : LoadEnvironments(environments_dir, nullptr)) {
    if (environment.id == id && CheckUnchanged(environment).ok()) return environment;
  }
  return std::nullopt;
}

bool IsRegistered(const std::string& environments_dir, const std::string& id) {
  const auto all = LoadEnvironments(environments_dir, nullptr);
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.second.id == id; });
}

bool IsAnythingOf(const std::string& environments_dir, const std::string& id) {
  return IsRegistered(environments_dir, id) ||
         access(FolderOfEnvironment(environments_dir, id).c_str(), F_OK) == 0 ||
         access(ManifestPath(environments_dir, id).c_str(), F_OK) == 0;
}

// Whether what `file` is in the environment at `prefix` is also in the one at `base`: the same
// inode, or the same content where there can be no hard links.
bool IsFileOf(const std::string& base, const std::string& prefix, const ManifestFile& file) {
  struct stat theirs {
  }, ours{};
  const std::string path = absl::StrCat(base, "/", file.path);
  if (stat(path.c_str(), &theirs) != 0 || theirs.st_size != file.size_bytes) return false;
  if (stat(absl::StrCat(prefix, "/", file.path).c_str(), &ours) == 0 &&
      ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino) {
    return true;
  }
  const auto digest = Sha256OfFile(path);
  return digest.ok() && *digest == file.sha256;
}

}  // namespace

EnvironmentWork::EnvironmentWork(Services services)
    : services_(std::move(services)),
      store_(services_.environments_dir),
      transfer_(services_.channel, &store_, [this](const absl::Status& s) { TriesAgain(s); }),
      thread_([this] { thread_loop_.Run(); }) {}

EnvironmentWork::~EnvironmentWork() {
  stopping_ = true;
  transfer_.Cancel();
  if (const pid_t child = child_; child > 0) kill(-child, SIGKILL);
  services_.loop->Cancel(log_timer_);
  thread_loop_.Stop();
  thread_.join();
}

void EnvironmentWork::Order(const v1::EnvironmentOrder& order) {
  if (!IsSha256Hex(order.id())) {
    spdlog::warn("an order for an environment with a bad id is left out");
    return;
  }
  if (const absl::Status name = CheckEnvironmentName(order.name()); !name.ok()) {
    return Tell(order.id(), "failed", std::string(name.message()));
  }
  // Told at every Hello: what is there, or is gone already, needs no rest.
  if (order.action() == "install" && IsInstalled(order)) return Tell(order.id(), "ready", "");
  if (order.action() == "remove" && !IsAnythingOf(services_.environments_dir, order.id())) {
    return Tell(order.id(), "removed", "");
  }
  if (order.action() != kSend) {
    for (const v1::EnvironmentOrder& other : orders_) {
      if (other.id() == order.id() && other.action() == order.action()) return;  // told again
    }
    Tell(order.id(), "waiting", "");
  }
  orders_.push_back(order);
  services_.wants_rest();
  SlotsChanged();
}

// The very build that the order names: another one of the same recipe has the same id.
bool EnvironmentWork::IsInstalled(const v1::EnvironmentOrder& order) const {
  if (!MadeWith(services_.environments_dir, order.id())) return false;
  const auto digest = Sha256OfFile(ManifestPath(services_.environments_dir, order.id()));
  return digest.ok() && *digest == order.manifest_sha256();
}

void EnvironmentWork::NewSession() {
  log_sent_ = log_begin_;
  const auto first = orders_.begin() + (begun_ ? 1 : 0);
  const auto kept = std::remove_if(
      first, orders_.end(), [](const v1::EnvironmentOrder& o) { return o.action() == kSend; });
  if (kept == orders_.end()) return;
  orders_.erase(kept, orders_.end());
  services_.wants_rest();
}

std::string EnvironmentWork::Active() const {
  return orders_.empty() ? "" : orders_.front().name();
}

void EnvironmentWork::SlotsChanged() {
  if (begun_ || orders_.empty() || !services_.slots_rest()) return;
  Begin();
}

void EnvironmentWork::Begin() {
  begun_ = true;
  log_.clear();
  log_begin_ = log_sent_ = 0;
  thread_loop_.Post([this, order = orders_.front()] { Run(order); });
}

void EnvironmentWork::Run(const v1::EnvironmentOrder& order) {
  Outcome outcome;
  moving_ = {order.id(), order.action() == kSend ? "sending" : "fetching"};
  const absl::Status status = Carry(order, &outcome);
  if (stopping_) return;
  v1::EnvironmentReport& report = outcome.report;
  report.set_id(order.id());
  report.set_ask(order.ask());
  std::vector<v1::EnvironmentReport> reports;
  if (!status.ok()) {
    const bool unfit = order.action() == "install" && absl::IsFailedPrecondition(status);
    report.set_state(order.action() == kSend ? "unable" : unfit ? "unfit" : "failed");
    report.set_reason(std::string(status.message()));
  } else if (!outcome.lacking.empty()) {
    report.set_state("lacking");
    report.set_reason(absl::StrCat(outcome.lacking.size(), " files"));
    for (const std::string& digest : outcome.lacking) {
      if (static_cast<size_t>(report.missing_size()) == kDigestsOfReport) {
        reports.push_back(report);
        report.clear_missing();
      }
      report.add_missing(digest);
    }
  } else {
    report.set_state(order.action() == "remove" ? "removed"
                     : order.action() == kSend  ? "sent"
                                                : "ready");
  }
  reports.push_back(report);
  services_.loop->Post([this, reports, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Finished(reports);
  });
}

void EnvironmentWork::Finished(const std::vector<v1::EnvironmentReport>& reports) {
  SendLog();
  const v1::EnvironmentReport& last = reports.back();
  spdlog::info("environment {}: {}{}{}", orders_.front().name(), last.state(),
               last.reason().empty() ? "" : ": ", last.reason().substr(0, 500));
  for (const v1::EnvironmentReport& report : reports) services_.report(report);
  orders_.pop_front();
  begun_ = false;
  services_.wants_rest();
  SlotsChanged();
}

absl::Status EnvironmentWork::Carry(const v1::EnvironmentOrder& order, Outcome* outcome) {
  if (order.action() == "remove") return Remove(order);
  if (order.action() == "install") return Install(order, &outcome->lacking);
  if (order.action() == kSend) return SendAsked(order);
  if (order.action() == "build" || order.action() == "derive") {
    return Make(order, &outcome->report);
  }
  return absl::UnimplementedError(
      absl::StrCat("this worker does not know the order \"", order.action(), "\"; upgrade it"));
}

absl::Status EnvironmentWork::Make(const v1::EnvironmentOrder& order,
                                   v1::EnvironmentReport* ready) {
  const std::string folder = absl::StrCat(services_.state_dir, "/environment-orders/", order.id());
  std::error_code error;
  fs::remove_all(folder, error);
  RETURN_IF_ERROR(MakePrivateFolder(folder + "/wheels"));
  std::vector<std::string> words;
  std::vector<ObjectToMove> objects;
  if (order.action() == "build") {
    ASSIGN_OR_RETURN(const plan::Recipe recipe, plan::RecipeFromJson(order.recipe_json()));
    for (const plan::RecipeWheel& wheel : recipe.wheels) {
      objects.push_back(
          {wheel.sha256, false, kAnySize,
           absl::StrCat(folder, "/wheels/", fs::path(wheel.file).filename().string())});
    }
    const std::string path = folder + "/recipe.json";
    RETURN_IF_ERROR(WriteFileDurably(path, order.recipe_json()));
    words = {"build", path, "--wheels-dir", folder + "/wheels", "--of-fleet"};
  } else {
    objects.push_back({order.patch_sha256(), false, kAnySize, folder + "/changes.patch"});
    words = {"derive", order.base(), "--patch",   folder + "/changes.patch",
             "--name", order.name(), "--of-fleet"};
  }
  Tell(order.id(), "fetching", "what it is made of");
  RETURN_IF_ERROR(FetchParts(objects));
  Tell(order.id(), "making", "");
  absl::Status made = RunTool(order, words);
  fs::remove_all(folder, error);
  RETURN_IF_ERROR(made);
  return SendMade(order, ready);
}

absl::Status EnvironmentWork::FetchParts(const std::vector<ObjectToMove>& objects) {
  ASSIGN_OR_RETURN(const UniqueFd kept, KeepReceived(services_.environments_dir));
  RETURN_IF_ERROR(transfer_.Fetch(objects, [](int64_t, int64_t, int64_t) {}));
  for (const ObjectToMove& object : objects) {
    RETURN_IF_ERROR(store_.Verify(object.sha256));
    RETURN_IF_ERROR(store_.LinkTo({"", false, kAnySize, object.sha256}, object.path));
  }
  return absl::OkStatus();
}

ObjectToMove EnvironmentWork::ObjectOf(const ManifestFile& file) const {
  bool executable = file.executable;
  if (!store_.folder().Has(file.sha256, ObjectStore::Variant(executable))) executable = !executable;
  return {file.sha256, file.executable, file.size_bytes,
          store_.folder().PathOf(file.sha256, ObjectStore::Variant(executable))};
}

absl::Status EnvironmentWork::SendObjects(const std::string& id,
                                          const std::vector<ObjectToMove>& objects) {
  const auto progress = [&](int64_t done, int64_t all, int64_t bytes) {
    Tell(id, "sending", Progress(done, all, bytes));
  };
  progress(0, static_cast<int64_t>(objects.size()), 0);
  return transfer_.Send(objects, progress);
}

absl::Status EnvironmentWork::SendMade(const v1::EnvironmentOrder& order,
                                       v1::EnvironmentReport* ready) {
  const auto environment = MadeWith(services_.environments_dir, order.id());
  if (!environment) {
    return absl::InternalError(
        "it was made under another id: the worker's base is another build "
        "than the coordinator knows; ask again");
  }
  const std::string path = ManifestPath(services_.environments_dir, order.id());
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  ASSIGN_OR_RETURN(const Manifest manifest, ManifestFromJson(text));
  // On demand: of what was built nothing, of what was derived what its base has not.
  const bool all = !order.on_demand(), own = order.action() == "derive";
  std::string base;
  if (own && !all) {
    ASSIGN_OR_RETURN(const Environment of,
                     LoadEnvironment(services_.environments_dir, order.base()));
    base = PrefixOf(of);
  }
  std::vector<ObjectToMove> objects;
  for (const ManifestFile& file : manifest.files) {
    if (file.size_bytes == 0) continue;
    if (all || (own && !IsFileOf(base, environment->prefix, file))) {
      objects.push_back(ObjectOf(file));
    }
  }
  objects.push_back({Sha256Hex(text), false, static_cast<int64_t>(text.size()), path});
  RETURN_IF_ERROR(SendObjects(order.id(), objects));
  ready->set_manifest_sha256(Sha256Hex(text));
  ready->set_hash(environment->hash);
  ready->set_libraries(EnvironmentHash(environment->files));
  ready->set_torch_version(environment->facts.torch_version);
  ready->set_origin_json(environment->origin_json);
  ready->set_files(static_cast<int64_t>(manifest.files.size()));
  ready->set_size_bytes(manifest.TotalBytes());
  return absl::OkStatus();
}

absl::Status EnvironmentWork::SendAsked(const v1::EnvironmentOrder& order) {
  if (!MadeWith(services_.environments_dir, order.id())) {
    return absl::FailedPreconditionError(
        absl::StrCat("the environment ", order.name(), " is not here any more, or has changed"));
  }
  const std::string path = ManifestPath(services_.environments_dir, order.id());
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  ASSIGN_OR_RETURN(const Manifest manifest, ManifestFromJson(text));
  std::map<std::string, ObjectToMove> here;
  for (const ManifestFile& file : manifest.files) {
    if (file.size_bytes > 0) here[file.sha256] = ObjectOf(file);
  }
  const std::string digest = Sha256Hex(text);
  here[digest] = {digest, false, static_cast<int64_t>(text.size()), path};
  std::vector<ObjectToMove> objects;
  for (const std::string& wanted : order.sha256()) {
    const auto found = here.find(wanted);
    if (found == here.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the environment ", order.name(),
                       " of this host has other files: it was made again elsewhere"));
    }
    objects.push_back(found->second);
  }
  if (order.sha256().empty()) {
    for (const auto& [unused, object] : here) objects.push_back(object);
  }
  return SendObjects(order.id(), objects);
}

// What the coordinator has not either has to come to it first; the slots do not wait for that.
absl::Status EnvironmentWork::FetchOrLack(const std::vector<ObjectToMove>& objects,
                                          const ObjectTransfer::Progress& progress,
                                          std::vector<std::string>* lacking) {
  const auto ask = [&]() -> absl::Status {
    std::vector<ObjectToMove> wanted, missing;
    for (const ObjectToMove& object : objects) {
      const ManifestFile file = {"", object.executable, object.size_bytes, object.sha256};
      if (!store_.HasWhole(file)) wanted.push_back(object);
    }
    if (wanted.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(transfer_.Missing(wanted, &missing));
    for (const ObjectToMove& object : missing) lacking->push_back(object.sha256);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ask());
  if (!lacking->empty()) return absl::OkStatus();
  absl::Status fetched = transfer_.Fetch(objects, progress);
  // It was swept there meanwhile, or was damaged: a holder has it.
  if (absl::IsNotFound(fetched) || absl::IsDataLoss(fetched)) {
    RETURN_IF_ERROR(ask());
    if (!lacking->empty()) return absl::OkStatus();
  }
  return fetched;
}

absl::Status EnvironmentWork::Install(const v1::EnvironmentOrder& order,
                                      std::vector<std::string>* lacking) {
  if (IsInstalled(order)) return absl::OkStatus();
  // Another build under the same id is not offered any more, whatever comes of this.
  if (IsRegistered(services_.environments_dir, order.id())) {
    RETURN_IF_ERROR(ForgetMade(services_.environments_dir, order.id()));
  }
  // Until an environment has them.
  ASSIGN_OR_RETURN(const UniqueFd kept, KeepReceived(services_.environments_dir));
  const ObjectToMove manifest_object = {order.manifest_sha256()};
  const auto no_progress = [](int64_t, int64_t, int64_t) {};
  RETURN_IF_ERROR(FetchOrLack({manifest_object}, no_progress, lacking));
  if (!lacking->empty()) return absl::OkStatus();
  RETURN_IF_ERROR(store_.Verify(order.manifest_sha256()));
  ASSIGN_OR_RETURN(const std::string text,
                   ReadWholeFile(store_.folder().PathOf(order.manifest_sha256())));
  ASSIGN_OR_RETURN(const Manifest manifest, ManifestFromJson(text));
  if (manifest.id != order.id()) {
    return absl::DataLossError("the manifest is of another environment");
  }
  // Before anything is moved for nothing.
  RETURN_IF_ERROR(CheckFits(manifest.platform));
  RETURN_IF_ERROR(TakeFromOthers(order, manifest));
  std::vector<ObjectToMove> objects;
  for (const ManifestFile& file : manifest.files) {
    if (file.size_bytes == 0 || store_.HasWhole(file)) continue;
    objects.push_back({file.sha256, file.executable, file.size_bytes});
  }
  const auto progress = [&](int64_t done, int64_t all, int64_t bytes) {
    Tell(order.id(), "fetching", Progress(done, all, bytes));
  };
  progress(0, static_cast<int64_t>(objects.size()), 0);
  RETURN_IF_ERROR(FetchOrLack(objects, progress, lacking));
  if (!lacking->empty()) return absl::OkStatus();
  RETURN_IF_ERROR(MakePrivateFolder(services_.environments_dir + "/manifests"));
  RETURN_IF_ERROR(WriteFileDurably(ManifestPath(services_.environments_dir, order.id()), text));
  const std::string origin =
      absl::StrCat(services_.state_dir, "/environment-orders/", order.id(), ".origin.json");
  RETURN_IF_ERROR(MakePrivateFolder(services_.state_dir + "/environment-orders"));
  RETURN_IF_ERROR(WriteFileDurably(origin, order.origin_json()));
  Tell(order.id(), "making", "");
  absl::Status made =
      RunTool(order, {"install", order.id(), "--name", order.name(), "--origin", origin});
  std::error_code error;
  fs::remove(origin, error);
  return made;
}

absl::Status EnvironmentWork::TakeFromOthers(const v1::EnvironmentOrder& order,
                                             const Manifest& manifest) const {
  if (order.libraries().empty()) return absl::OkStatus();
  for (const auto& [name, environment] : LoadEnvironments(services_.environments_dir, nullptr)) {
    if (EnvironmentHash(environment.files) != order.libraries()) continue;
    ASSIGN_OR_RETURN(const int64_t taken, TakeFiles(manifest, environment, store_, stopping_));
    spdlog::info("{} files of environment {} are those of {}", taken, order.name(), name);
  }
  return absl::OkStatus();
}

absl::Status EnvironmentWork::Remove(const v1::EnvironmentOrder& order) {
  RETURN_IF_ERROR(ForgetMade(services_.environments_dir, order.id()));
  ASSIGN_OR_RETURN(const Collected collected,
                   CollectEnvironments(services_.environments_dir, /*dry_run=*/false));
  if (collected.receiving) {
    spdlog::info("objects of {} stay until the next removal: another worker receives",
                 order.name());
  }
  return absl::OkStatus();
}

absl::Status EnvironmentWork::RunTool(const v1::EnvironmentOrder& order,
                                      std::vector<std::string> words) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return absl::ResourceExhaustedError("no pipe");
  const UniqueFd read_end(out[0]);
  UniqueFd write_end(out[1]);
  SpawnOptions spawn;
  spawn.argv = {"/proc/self/exe", "env"};
  spawn.argv.insert(spawn.argv.end(), words.begin(), words.end());
  spawn.argv.insert(spawn.argv.end(), {"--environments-dir", services_.environments_dir});
  spawn.environment = services_.variables;
  spawn.working_dir = "/";
  spawn.fds = {{1, write_end.get()}, {2, write_end.get()}};
  ASSIGN_OR_RETURN(const pid_t pid, services_.processes->Spawn(spawn));
  write_end.reset();
  child_ = pid;
  if (stopping_) kill(-pid, SIGKILL);
  std::string output;
  int status = 0;
  bool ended = false;
  while (true) {
    pollfd wait{read_end.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, kLookEveryMs);
    if (ready > 0) {
      char buffer[65536];
      const ssize_t n = read(read_end.get(), buffer, sizeof buffer);
      if (n == 0) break;
      if (n > 0) {
        Log(order.id(), {buffer, static_cast<size_t>(n)});
        output.append(buffer, static_cast<size_t>(n));
        if (output.size() > kLogBytes) output.erase(0, output.size() - kLogBytes / 2);
      }
    } else if (ended) {
      break;  // somebody below it keeps the pipe open
    }
    if (!ended) ended = waitpid(pid, &status, WNOHANG) == pid;
  }
  while (!ended && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  services_.processes->Disown(pid);
  if (stopping_) return absl::CancelledError("the worker is stopping");
  const ExitStatus exit = DecodeWaitStatus(status);
  if (exit.success()) return absl::OkStatus();
  const std::string error = ErrorOf(output);
  // As the tool's exit codes say (worker/main.cc).
  if (exit.code == 5) return absl::FailedPreconditionError(error);
  return absl::UnknownError(error);
}

void EnvironmentWork::Log(const std::string& id, std::string_view bytes) {
  services_.loop->Post([this, id, text = std::string(bytes), alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired() || orders_.empty() || orders_.front().id() != id) return;
    log_ += text;
    if (log_.size() > kLogBytes) {
      const size_t cut = log_.size() - kLogBytes;
      log_.erase(0, cut);
      log_begin_ += static_cast<int64_t>(cut);
      log_sent_ = std::max(log_sent_, log_begin_);
    }
    if (log_timer_ == 0) log_timer_ = services_.loop->After(kLogEveryMs, [this] { SendLog(); });
  });
}

void EnvironmentWork::SendLog() {
  services_.loop->Cancel(std::exchange(log_timer_, 0));
  if (orders_.empty()) return;
  while (log_sent_ < log_begin_ + static_cast<int64_t>(log_.size())) {
    v1::EnvironmentReport report;
    report.set_id(orders_.front().id());
    report.set_state("making");
    report.set_log_offset(log_sent_);
    report.set_log(log_.substr(static_cast<size_t>(log_sent_ - log_begin_), kLogPiece));
    log_sent_ += static_cast<int64_t>(report.log().size());
    services_.report(report);
  }
}

void EnvironmentWork::TriesAgain(const absl::Status& why) {
  const std::string reason(why.message());
  spdlog::warn("objects are moved again and again until the coordinator answers: {}", reason);
  Tell(moving_.first, moving_.second, "tries again: " + reason);
}

void EnvironmentWork::Tell(const std::string& id, const std::string& state,
                           const std::string& reason) {
  v1::EnvironmentReport report;
  report.set_id(id);
  report.set_state(state);
  report.set_reason(reason);
  services_.loop->Post([this, report, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) services_.report(report);
  });
}

}  // namespace dynbench::worker
