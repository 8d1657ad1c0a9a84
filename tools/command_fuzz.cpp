#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "runtime/base/error.h"
#include "runtime/base/target.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fuzz/shrink.h"
#include "tools/fuzz/trial.h"
#include "tools/keep_memory.h"

namespace lathe {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct FuzzCommand {
  std::vector<std::string> files, targets = {"gfx90a", "gfx1100"};
  uint64_t seed = 1;
  int64_t pairs = 0, certify_every = 1, most_failures = 10;
  double seconds = 0, limit = 30, shrink_seconds = 120;
  std::string out = ".";
  bool loud = false;

  int64_t tried = 0, refused = 0, failed = 0;
  fuzz::CheckResult spent;

  void run() {
    for (const std::string& t : targets) parse_target(t);
    keep_freed_memory();
    fuzz::Trial trial({targets, false}, limit);
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& file : files) {
      const std::string text = read_text(file);
      report(trial, std::filesystem::path(file).stem().string() + "_small", trial.text(text, true), true);
    }
    const bool endless = pairs == 0 && seconds > 0;
    const int64_t count = pairs > 0 ? pairs : files.empty() && !endless ? 100 : 0;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    for (uint64_t s = seed; (endless || s < seed + static_cast<uint64_t>(count)) && failed < most_failures; ++s) {
      if (seconds > 0 && seconds_since(start) >= seconds) break;
      const auto began = std::chrono::steady_clock::now();
      const bool certify = certify_every > 0 && s % static_cast<uint64_t>(certify_every) == 0;
      const fuzz::Outcome outcome = trial.seed(s, certify);
      if (terminal && !loud)
        fmt::print(stderr, "\rseed {}: {} pairs, {:.1f} a second, {} refused, {} failed ", s, tried + 1, static_cast<double>(tried + 1) / seconds_since(start),
                   refused, failed);
      if (loud) {
        const auto& r = outcome.result;
        fmt::print("seed {}: {:.3f} s, {} nodes (evaluate {:.0f} ms, lower {:.0f}, build {:.0f}, run {:.0f}){}{}\n", s, seconds_since(began), r.nodes, r.evaluate, r.lower, r.build,
                   r.run, r.refused ? " refused" : "", outcome.kind.empty() ? "" : " " + outcome.kind);
      }
      report(trial, fmt::format("seed_{}", s), outcome, certify);
    }
    if (terminal && !loud) fmt::print(stderr, "\r\x1b[K");
    const double took = seconds_since(start);
    fmt::print("{} pairs on {} in {:.1f} s, {:.1f} a second: {} refused, {} failed\n", tried, fmt::join(targets, ", "), took,
               static_cast<double>(tried) / took, refused, failed);
    fmt::print("seconds: {:.1f} evaluate, {:.1f} lower and evaluate passes, {:.1f} build, {:.1f} run on the emulated GPUs\n", spent.evaluate / 1e3,
               spent.lower / 1e3, spent.build / 1e3, spent.run / 1e3);
    if (failed > 0) throw Error("fuzz", fmt::format("{} of {} pairs failed", failed, tried), "the smallest program of each is in " + out);
  }

  // Counts an outcome; a failure is shrunk and written.
  void report(fuzz::Trial& trial, const std::string& name, const fuzz::Outcome& outcome, bool certify) {
    ++tried;
    refused += outcome.result.refused;
    spent.evaluate += outcome.result.evaluate;
    spent.lower += outcome.result.lower;
    spent.build += outcome.result.build;
    spent.run += outcome.result.run;
    if (outcome.kind.empty()) return;
    ++failed;
    fuzz::Outcome last = outcome;
    const std::string small = fuzz::shrink(outcome.text, shrink_seconds, [&](const std::string& text) -> std::optional<std::string> {
      fuzz::Outcome o = trial.text(text, certify);
      if (o.kind != outcome.kind) return std::nullopt;
      last = o;
      return last.text;
    });
    std::filesystem::create_directories(out);
    const std::string path = (std::filesystem::path(out) / (name + ".te")).string();
    std::string comment = small.substr(0, small.starts_with("#") ? small.find('\n') + 1 : 0);
    comment += fmt::format("# {}\n", last.kind);
    const std::string whole = comment + small.substr(small.starts_with("#") ? small.find('\n') + 1 : 0);
    write_file(path, {reinterpret_cast<const uint8_t*>(whole.data()), whole.size()});
    fmt::print("{}{}: {}\n{}\n{}\n", isatty(STDERR_FILENO) ? "\n" : "", path, last.kind, last.detail, small);
    std::fflush(stdout);
  }
};

}  // namespace

void add_fuzz_command(CLI::App& app) {
  auto command = std::make_shared<FuzzCommand>();
  CLI::App* sub = app.add_subcommand("fuzz", "Try random programs under random schedules, and shrink what fails");
  sub->add_option("files", command->files, "Pairs to check, and to shrink where they fail, instead of random ones");
  sub->add_option("--seed", command->seed, "The first seed; the next pair has the next one")->capture_default_str();
  sub->add_option("--pairs", command->pairs, "How many pairs (100, or as many as --seconds allow)");
  sub->add_option("--seconds", command->seconds, "For how long at most");
  sub->add_option("--target", command->targets, "On which emulated GPUs")->capture_default_str();
  sub->add_option("--out", command->out, "The folder for the smallest program of each failure")->capture_default_str();
  sub->add_option("--certify-every", command->certify_every, "Every how many pairs are certified, and refused where disproved; 0: none")->capture_default_str();
  sub->add_option("--limit", command->limit, "Seconds that a pair may take before it counts as a hang")->capture_default_str();
  sub->add_option("--shrink-seconds", command->shrink_seconds, "How long a failure is shrunk at most")->capture_default_str();
  sub->add_option("--failures", command->most_failures, "After how many it stops")->capture_default_str();
  sub->add_flag("--verbose", command->loud, "A line for each pair");
  sub->callback([command] { command->run(); });
}

}  // namespace lathe
