#include "tools/fuzz/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "ir/lexer.h"
#include "runtime/base/dtype.h"

namespace lathe::fuzz {
namespace {

using Tokens = std::vector<std::string>;

bool is_name(const std::string& t) { return std::isalpha(static_cast<unsigned char>(t[0])) || t[0] == '_'; }
bool is_integer(const std::string& t) { return t.find_first_not_of("0123456789") == std::string::npos; }
bool is_number(const std::string& t) { return std::isdigit(static_cast<unsigned char>(t[0])); }

class Shrinker {
 public:
  Shrinker(std::string text, double seconds, const StillFails& still_fails)
      : still_fails_(still_fails),
        end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds))) {
    take(std::move(text));
  }

  std::string run() {
    for (bool smaller = true; smaller && !late();) {
      smaller = false;
      smaller |= drop_steps();
      smaller |= drop_arguments();
      smaller |= stop_at_earlier_stages();
      smaller |= definitions_to_inputs();
      smaller |= simpler_expressions();
      smaller |= plain_types();
      smaller |= fewer_symbols();
      smaller |= smaller_numbers();
    }
    return text_;
  }

 private:
  bool late() const { return std::chrono::steady_clock::now() > end_; }

  void take(std::string text) {
    text_ = std::move(text);
    head_ = text_.starts_with("#") ? text_.substr(0, text_.find('\n') + 1) : "";
    tokens_.clear();
    for (Lexer lexer(text_, "pair"); !lexer.at_end();) tokens_.push_back(lexer.next().text);
    closes_.assign(tokens_.size(), 0);
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (is_open(i)) open.push_back(i);
      if (is_close(i) && !open.empty()) closes_[open.back()] = i, open.pop_back();
    }
  }
  bool is_open(size_t i) const { return tokens_[i] == "(" || tokens_[i] == "[" || tokens_[i] == "{"; }
  bool is_close(size_t i) const { return tokens_[i] == ")" || tokens_[i] == "]" || tokens_[i] == "}"; }

  bool attempt(const std::string& candidate) {
    if (late() || candidate == text_ || !tried_.insert(candidate).second) return false;
    auto kept = still_fails_(candidate);
    if (!kept) return false;
    tried_.insert(*kept);
    take(std::move(*kept));
    return true;
  }
  bool attempt(const Tokens& tokens, const std::string& head) { return attempt(fmt::format("{}{}\n", head, fmt::join(tokens, " "))); }
  bool attempt(const Tokens& tokens) { return attempt(tokens, head_); }

  Tokens replaced(size_t first, size_t last, const Tokens& by) const {  // [first, last) becomes `by`
    Tokens result(tokens_.begin(), tokens_.begin() + static_cast<int64_t>(first));
    result.insert(result.end(), by.begin(), by.end());
    result.insert(result.end(), tokens_.begin() + static_cast<int64_t>(last), tokens_.end());
    return result;
  }
  Tokens part(size_t first, size_t last) const {
    return {tokens_.begin() + static_cast<int64_t>(first), tokens_.begin() + static_cast<int64_t>(last)};
  }

  // ---- steps: a line each, in ever smaller blocks
  bool drop_steps() {
    bool any = false;
    for (size_t block = 64; block > 0; block /= 2)
      for (size_t first = 0;; ) {
        std::vector<std::string> before, steps;
        split_schedule(before, steps);
        if (first >= steps.size()) break;
        const size_t last = std::min(first + block, steps.size());
        steps.erase(steps.begin() + static_cast<int64_t>(first), steps.begin() + static_cast<int64_t>(last));
        std::string candidate = fmt::format("{}", fmt::join(before, "\n"));
        if (!steps.empty()) candidate += fmt::format("\nschedule {{\n{}\n}}", fmt::join(steps, "\n"));
        if (attempt(candidate + "\n")) any = true;
        else first = last;
      }
    return any;
  }

  void split_schedule(std::vector<std::string>& before, std::vector<std::string>& steps) const {
    bool inside = false;
    for (size_t at = 0; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      const std::string line = text_.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("schedule {")) inside = true;
      else if (inside && line != "}") steps.push_back(line);
      else if (!inside) before.push_back(line);
    }
  }

  // ---- the parameter list
  size_t parameters() const { return static_cast<size_t>(std::find(tokens_.begin(), tokens_.end(), "(") - tokens_.begin()); }

  // The items between a bracket's commas, as ranges of tokens.
  std::vector<std::pair<size_t, size_t>> items(size_t open) const {
    std::vector<std::pair<size_t, size_t>> result;
    size_t first = open + 1;
    for (size_t i = first; i < closes_[open]; ++i) {
      if (is_open(i) && closes_[i] > i) i = closes_[i];
      else if (tokens_[i] == ",") result.emplace_back(first, i), first = i + 1;
    }
    if (first < closes_[open]) result.emplace_back(first, closes_[open]);
    return result;
  }

  bool drop_item(size_t open, size_t which) {
    const auto list = items(open);
    const auto [first, last] = list[which];
    return attempt(which > 0 ? replaced(first - 1, last, {}) : replaced(first, list.size() > 1 ? last + 1 : last, {}));
  }

  bool drop_arguments() {
    bool any = false;
    for (size_t i = items(parameters()).size(); i-- > 0;)
      if (i < items(parameters()).size()) any |= drop_item(parameters(), i);
    return any;
  }

  // The last output's place in the parameter list is given to a stage before it.
  bool stop_at_earlier_stages() {
    const auto list = items(parameters());
    if (list.empty() || tokens_[list.back().first] != "out") return false;
    for (size_t i = closes_[parameters()] + 1; i + 1 < tokens_.size(); ++i)
      if (begins_definition(i) && attempt(replaced(list.back().first + 1, list.back().second, {tokens_[i]}))) return true;
    return false;
  }

  // P[i: m, j: n] = …  →  an input P: T[m, n]
  bool definitions_to_inputs() {
    bool any = false;
    for (size_t i = closes_[parameters()] + 1; i + 1 < tokens_.size() && tokens_[i] != "schedule"; ++i) {
      if (tokens_[i] == "combiner") {  // its operands look like parameters
        while (i < tokens_.size() && tokens_[i] != "identity") ++i;
        continue;
      }
      if (!is_name(tokens_[i]) || tokens_[i + 1] != "[" || closes_[i + 1] + 1 >= tokens_.size() || tokens_[closes_[i + 1] + 1] != "=") continue;
      Tokens shape;
      for (const auto& [first, last] : items(i + 1)) {
        if (!shape.empty()) shape.push_back(",");
        for (size_t t = first + 2; t < last; ++t) shape.push_back(tokens_[t]);
      }
      size_t end = closes_[i + 1] + 2;
      while (end < tokens_.size() && tokens_[end] != "schedule" && tokens_[end] != "combiner" && !begins_definition(end)) ++end;
      std::set<std::string> types = {"f32", "i64", "bool"};
      for (const std::string& t : tokens_)
        if (parse_dtype(t)) types.insert(t);
      for (const std::string& type : types) {
        Tokens input = {tokens_[i], ":", type, "["};
        input.insert(input.end(), shape.begin(), shape.end());
        input.push_back("]");
        if (parameters() + 1 < closes_[parameters()]) input.push_back(",");
        Tokens candidate = replaced(i, end, {});
        candidate.insert(candidate.begin() + static_cast<int64_t>(parameters()) + 1, input.begin(), input.end());
        if (attempt(candidate)) {
          any = true;
          break;
        }
      }
    }
    return any;
  }
  bool begins_definition(size_t i) const {
    return is_name(tokens_[i]) && i + 1 < tokens_.size() && tokens_[i + 1] == "[" && closes_[i + 1] + 1 < tokens_.size() && tokens_[closes_[i + 1] + 1] == "=";
  }

  // ---- expressions
  // Where the operand that begins at `i` ends: a number, a name and its brackets, a bracket, with its signs.
  size_t operand_end(size_t i) const {
    while (i < tokens_.size() && (tokens_[i] == "-" || tokens_[i] == "!" || tokens_[i] == "~")) ++i;
    if (i >= tokens_.size()) return i;
    if (is_number(tokens_[i])) return i + 1;
    if (is_name(tokens_[i])) ++i;
    else if (tokens_[i] != "(") return i;
    while (i < tokens_.size() && (tokens_[i] == "(" || tokens_[i] == "[") && closes_[i] > i) i = closes_[i] + 1;
    if (i + 1 < tokens_.size() && tokens_[i] == "." && is_integer(tokens_[i + 1])) i += 2;
    return i;
  }

  bool simpler_expressions() {
    bool any = false;
    for (size_t i = closes_[parameters()] + 1; i < tokens_.size() && tokens_[i] != "schedule"; ++i)
      while (i < tokens_.size() && simpler_at(i)) any = true;
    return any;
  }

  bool simpler_at(size_t i) {
    const size_t end = operand_end(i);
    if (end == i || end > tokens_.size()) return false;
    // Its parts, the largest bracket's first: select(c, a, b) → c, a, b; f16(x) → x
    if (is_close(end - 1))
      for (size_t open = i; open < end; ++open)
        if (is_open(open) && closes_[open] == end - 1)
          for (const auto& [first, last] : items(open))
            if (attempt(replaced(i, end, part(first, last))) || attempt(replaced(i, end, parenthesised(first, last)))) return true;
    if (end - i == 1 && is_number(tokens_[i])) return false;  // smaller_numbers' business
    for (const char* literal : {"0", "1", "0.0", "1.0", "false", "true"})
      if (attempt(replaced(i, end, {literal}))) return true;
    // Away, with the operator after or before it.
    if (end < tokens_.size() && attempt(replaced(i, end + 1, {}))) return true;
    return i > 0 && attempt(replaced(i - 1, end, {}));
  }
  Tokens parenthesised(size_t first, size_t last) const {
    Tokens result = part(first, last);
    result.insert(result.begin(), "(");
    result.push_back(")");
    return result;
  }

  // ---- types, symbols, numbers
  bool plain_types() {
    bool any = false;
    for (const char* plain : {"f32", "i32"}) {
      std::set<std::string> present;
      for (const std::string& t : tokens_)
        if (parse_dtype(t) && t != "f32" && !(t == "i32" && std::string_view(plain) == "i32")) present.insert(t);
      for (const std::string& type : present) {
        Tokens candidate = tokens_;
        std::replace(candidate.begin(), candidate.end(), type, std::string(plain));
        any |= attempt(candidate);
      }
    }
    return any;
  }

  // --set m=3 in the first line, and the values that a symbol might have instead.
  bool fewer_symbols() {
    bool any = false;
    for (size_t at = head_.find("--set "); at != std::string::npos; at = head_.find("--set ", at + 1)) {
      const size_t equals = head_.find('=', at), end = std::min(head_.find_first_of(" \n", equals), head_.size());
      if (equals == std::string::npos) break;
      const std::string name = head_.substr(at + 6, equals - at - 6), value = head_.substr(equals + 1, end - equals - 1);
      Tokens candidate = tokens_;
      const size_t close = static_cast<size_t>(std::find(candidate.begin(), candidate.end(), ">") - candidate.begin());
      for (size_t i = 0; i < close && close < parameters(); ++i)
        if (candidate[i] == name) {  // out of < … >, with a comma or with the brackets
          const bool alone = candidate[i - 1] == "<" && candidate[i + 1] == ">";
          const size_t first = alone || candidate[i - 1] == "," ? i - 1 : i, last = alone || candidate[i - 1] == "<" ? i + 2 : i + 1;
          candidate.erase(candidate.begin() + static_cast<int64_t>(first), candidate.begin() + static_cast<int64_t>(last));
          break;
        }
      std::replace(candidate.begin(), candidate.end(), name, value);
      if (attempt(candidate, head_.substr(0, at) + head_.substr(std::min(end + 1, head_.size())))) return true;
      for (const std::string& smaller : smaller_than(value))
        if (attempt(tokens_, head_.substr(0, equals + 1) + smaller + head_.substr(end))) {
          any = true;
          break;
        }
    }
    if (head_.find("--values") != std::string::npos) {
      const size_t at = head_.find("--values ") + 9;
      if (head_.substr(at) != "whole\n") any |= attempt(tokens_, head_.substr(0, at) + "whole\n");
    }
    return any;
  }

  static std::vector<std::string> smaller_than(const std::string& number) {
    const int64_t n = std::strtoll(number.c_str(), nullptr, 10);
    std::set<int64_t> values;
    for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, n / 2, n - 1})
      if (v < n && v >= 0) values.insert(v);
    std::vector<std::string> result;
    for (int64_t v : values) result.push_back(std::to_string(v));
    return result;
  }

  // First every occurrence at once, as extents have to agree; then one by one.
  bool smaller_numbers() {
    bool any = false;
    const std::set<std::string> present(tokens_.begin(), tokens_.end());
    for (const std::string& number : present) {
      if (!is_integer(number)) continue;
      for (const std::string& smaller : smaller_than(number)) {
        Tokens candidate = tokens_;
        std::replace(candidate.begin(), candidate.end(), number, smaller);
        if (attempt(candidate)) {
          any = true;
          break;
        }
      }
    }
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (is_integer(tokens_[i]))
        for (const std::string& smaller : smaller_than(tokens_[i]))
          if (attempt(replaced(i, i + 1, {smaller}))) {
            any = true;
            break;
          }
    return any;
  }

  const StillFails& still_fails_;
  std::chrono::steady_clock::time_point end_;
  std::string text_, head_;
  Tokens tokens_;
  std::vector<size_t> closes_;  // where the bracket that opens at a token closes
  std::set<std::string> tried_;
};

}  // namespace

std::string shrink(std::string text, double seconds, const StillFails& still_fails) {
  return Shrinker(std::move(text), seconds, still_fails).run();
}

}  // namespace lathe::fuzz
