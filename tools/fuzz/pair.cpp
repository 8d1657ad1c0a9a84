#include "tools/fuzz/pair.h"

#include <fmt/format.h>

#include <sstream>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/schedule/schedule.h"
#include "tools/fuzz/random_program.h"
#include "tools/fuzz/random_schedule.h"

namespace lathe::fuzz {
namespace {

constexpr std::string_view run_line = "# run: ";

std::string head(const Symbols& symbols, uint64_t seed, Values values) {
  std::string text(run_line);
  for (const auto& [name, value] : symbols) text += fmt::format("--set {}={} ", name, value);
  return text + fmt::format("--random {} --values {}\n", seed, to_string(values));
}

}  // namespace

std::string to_text(const Pair& pair) { return head(pair.symbols, pair.seed, pair.values) + to_string(pair.program); }

Pair parse_pair(const std::string& text, const std::string& file) {
  Pair pair;
  pair.program = parse_program(text, file);
  if (!text.starts_with(run_line)) return pair;
  std::istringstream words(text.substr(run_line.size(), text.find('\n') - run_line.size()));
  for (std::string option, value; words >> option;) {
    auto refuse = [&] { throw Error(file + ":1", fmt::format("\"{} {}\" is not understood", option, value), "write --set n=7, --random 1 or --values whole"); };
    if (!(words >> value)) refuse();
    if (option == "--set" && value.find('=') != std::string::npos)
      pair.symbols[value.substr(0, value.find('='))] = std::strtoll(value.c_str() + value.find('=') + 1, nullptr, 10);
    else if (option == "--random")
      pair.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--values" && parse_values(value))
      pair.values = *parse_values(value);
    else
      refuse();
  }
  return pair;
}

Pair random_pair(uint64_t seed, const std::function<void(const std::string&)>& journal) {
  Dice dice(seed);
  const RandomProgram random = random_program(dice);
  const std::string text = head(random.symbols, seed, random.values) + random.text;
  journal(text);
  Pair pair{parse_program(text, fmt::format("seed {}", seed)), random.symbols, seed, random.values};
  Schedule schedule(pair.program);
  std::string steps;
  random_schedule(dice, schedule, [&](const Step& next) {
    steps.clear();
    for (const Step& s : schedule.steps()) steps += "  " + to_string(s) + "\n";
    journal(fmt::format("{}schedule {{\n{}  {}\n}}\n", text, steps, to_string(next)));
  });
  pair.program.steps = schedule.steps();
  return pair;
}

}  // namespace lathe::fuzz
