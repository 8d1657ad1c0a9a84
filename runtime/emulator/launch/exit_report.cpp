// LATHE_EMULATOR_REPORT=counters or json: what the process ran, on standard error when it ends. Counters are printed
// as a table, whatever they are: numbers a line each, lists of records with a column for each field.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launch/report.h"

namespace lathe::emu {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

bool is_list_of_records(const Json& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

void print_records(const std::string& name, const Json& list, std::string& out) {
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& [key, value] : list.front().items()) rows.front().push_back(key);
  for (const Json& record : list) {
    rows.emplace_back();
    for (const std::string& key : rows.front()) rows.back().push_back(record.contains(key) ? text_of(record[key]) : "");
  }
  out += fmt::format("{}:\n", name);
  for (const auto& row : rows) {
    std::string line;
    for (size_t k = 0; k < row.size(); k++) {
      size_t width = 0;
      for (const auto& r : rows) width = std::max(width, r[k].size());
      // Numbers to the right, names to the left.
      const bool number = list.front()[rows.front()[k]].is_number();
      line += number ? fmt::format("  {:>{}}", row[k], width) : fmt::format("  {:<{}}", row[k], width);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
}

void print_object(const std::string& name, const Json& object, std::string& out) {
  size_t width = 0;
  for (const auto& [key, value] : object.items())
    if (!value.is_structured()) width = std::max(width, key.size());
  if (!name.empty()) out += fmt::format("{}:\n", name);
  for (const auto& [key, value] : object.items())
    if (!value.is_structured()) out += fmt::format("  {:<{}}  {:>14}\n", key, width, text_of(value));
  for (const auto& [key, value] : object.items()) {
    const std::string full = name.empty() ? key : name + "." + key;
    if (value.is_object()) print_object(full, value, out);
    else if (is_list_of_records(value)) print_records(full, value, out);
    else if (value.is_structured()) out += fmt::format("{}: {}\n", full, value.dump());
  }
}

[[gnu::destructor]] void report_at_exit() {
  const char* kind = std::getenv("LATHE_EMULATOR_REPORT");
  if (!kind || !*kind) return;
  try {
    const std::string json = counters_json();
    std::string out;
    if (std::strcmp(kind, "json") == 0) out = json + "\n";
    else if (std::strcmp(kind, "counters") == 0) print_object("", Json::parse(json), out);
    else out = fmt::format("lathe emulator: LATHE_EMULATOR_REPORT is \"{}\": \"counters\" and \"json\" are known\n", kind);
    std::fputs(out.c_str(), stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lathe emulator: no report: %s\n", e.what());
  }
}

}  // namespace
}  // namespace lathe::emu
