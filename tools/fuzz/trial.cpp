#include "tools/fuzz/trial.h"

#include <fmt/format.h>

#include <sstream>

#include "runtime/base/error.h"

namespace lathe::fuzz {
namespace {

// A request is "seed|text", "plain|certify", and the seed or the text, a line each; an answer the figures of a
// CheckResult in one line, or "fault", its kind and its detail.
std::string serve(const CheckOptions& options, const std::string& request, const Journal& journal) {
  const size_t first = request.find('\n'), second = request.find('\n', first + 1);
  const std::string what = request.substr(0, first), rest = request.substr(second + 1);
  CheckOptions checks = options;
  checks.certify = request.substr(first + 1, second - first - 1) == "certify";
  try {
    Pair pair;
    if (what == "seed") {
      pair = random_pair(std::strtoull(rest.c_str(), nullptr, 10), journal);
    } else {
      try {
        pair = parse_pair(rest, "candidate");
      } catch (const Error&) {
        return "0 0 0 0 0 1";
      }
    }
    const CheckResult r = check_pair(std::move(pair), checks, journal);
    return fmt::format("{} {} {} {} {} {:d}", r.nodes, r.evaluate, r.lower, r.build, r.run, r.refused);
  } catch (const Fault& f) {
    return fmt::format("fault\n{}\n{}", f.kind, f.detail);
  } catch (const std::exception& e) {
    return fmt::format("fault\nthrows where nothing should\n{}", e.what());
  }
}

}  // namespace

Trial::Trial(CheckOptions options, double seconds)
    : worker_([options](const std::string& request, const Journal& journal) { return serve(options, request, journal); }, seconds) {}

Outcome Trial::seed(uint64_t seed, bool certify) { return ask(fmt::format("seed\n{}\n{}", certify ? "certify" : "plain", seed)); }
Outcome Trial::text(const std::string& te, bool certify) { return ask(fmt::format("text\n{}\n{}", certify ? "certify" : "plain", te)); }

Outcome Trial::ask(const std::string& request) {
  const Worker::Answer answer = worker_.ask(request);
  Outcome outcome;
  outcome.text = answer.journal;
  if (!answer.death.empty()) {
    outcome.kind = answer.death;
    outcome.detail = answer.errors;
  } else if (answer.text.starts_with("fault\n")) {
    const size_t end = answer.text.find('\n', 6);
    outcome.kind = answer.text.substr(6, end - 6);
    outcome.detail = answer.text.substr(end + 1);
  } else {
    CheckResult& r = outcome.result;
    std::istringstream(answer.text) >> r.nodes >> r.evaluate >> r.lower >> r.build >> r.run >> r.refused;
  }
  return outcome;
}

}  // namespace lathe::fuzz
