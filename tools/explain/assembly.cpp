#include "tools/explain/assembly.h"

#include <charconv>

#include "tools/explain/nests.h"

namespace lathe {
namespace {

std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : s.substr(first, last - first + 1);
}

// The second number of "\t.loc\t0 26 0".
int line_of(std::string_view directive) {
  const size_t first = directive.find_first_of("0123456789"), space = directive.find(' ', first);
  if (space == std::string_view::npos) return 0;
  int line = 0;
  std::from_chars(directive.data() + space + 1, directive.data() + directive.size(), line);
  return line;
}

}  // namespace

std::string_view instruction_kind(std::string_view mnemonic) {
  struct Row {
    std::string_view prefix, kind;
  };
  // The first prefix that fits decides.
  static constexpr Row rows[] = {
      {"v_mfma", "matrix"},  {"v_smfmac", "matrix"}, {"v_wmma", "matrix"},   {"v_swmmac", "matrix"}, {"v_", "vector"},
      {"ds_", "LDS"},        {"s_wait", "wait"},     {"s_barrier", "wait"},  {"s_nop", "wait"},      {"s_delay", "wait"},
      {"s_sleep", "wait"},   {"s_branch", "branch"}, {"s_cbranch", "branch"}, {"s_endpgm", "branch"}, {"s_setpc", "branch"},
      {"s_swappc", "branch"}, {"s_load", "memory"},  {"s_buffer", "memory"}, {"s_", "scalar"},
  };
  for (const Row& row : rows)
    if (mnemonic.starts_with(row.prefix)) return row.kind;
  return "memory";
}

std::vector<AsmRow> read_assembly(std::string_view assembly) {
  std::vector<AsmRow> rows;
  std::string kernel;
  int line = 0;
  bool code = false;
  for (const std::string& whole : lines_of(assembly)) {
    const std::string_view raw = whole;
    const std::string_view text = trimmed(raw.substr(0, raw.find(';')));
    if (text.empty()) continue;
    if (text.starts_with(".section")) code = text.find(".text") != std::string_view::npos;
    if (text == ".text") code = true;
    if (text.starts_with(".loc")) line = line_of(text);
    const bool label = text.back() == ':';
    if (label && text.front() != '.') {  // "gemm:" begins a kernel
      kernel = std::string(text.substr(0, text.size() - 1));
      line = 0;
      continue;
    }
    if (!code || kernel.empty()) continue;
    if (label) {
      // Of local labels, only those that are jumped to stand in the text for a reader: ".LBB0_2".
      if (text.starts_with(".LBB")) rows.push_back({kernel, std::string(text), 0, ""});
    } else if (text.front() != '.') {
      rows.push_back({kernel, std::string(text), line, instruction_kind(text.substr(0, text.find_first_of(" \t")))});
    }
  }
  return rows;
}

}  // namespace lathe
