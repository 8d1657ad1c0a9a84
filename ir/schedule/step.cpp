#include "ir/schedule/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "ir/lexer.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/schedule/step_row.h"
#include "runtime/base/edit_distance.h"

namespace lathe {
namespace {

std::vector<std::string_view> pieces_of(std::string_view grammar) {
  std::vector<std::string_view> pieces;
  while (!grammar.empty()) {
    const size_t space = grammar.find(' ');
    pieces.push_back(grammar.substr(0, space));
    grammar = space == std::string_view::npos ? std::string_view() : grammar.substr(space + 1);
  }
  return pieces;
}

// Reads or writes one item of a list; `more` says whether another one follows.
template <class F>
void separated(bool many, F item_and_more) {
  while (item_and_more() && many) {
  }
}

AxisName parse_axis(Lexer& lexer) {
  AxisName name;
  name.stage = lexer.identifier("a stage");
  lexer.expect(".");
  name.axis = lexer.identifier("an axis");
  return name;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string result;
  for (std::string_view w : words) result += (result.empty() ? "" : ", ") + std::string(w);
  return result;
}

std::string steps_like(std::string_view keyword) {
  std::vector<std::string_view> all;
  for (const StepRow& r : step_rows()) all.push_back(r.keyword);
  const auto nearest = std::min_element(all.begin(), all.end(), [&](auto a, auto b) { return edit_distance(keyword, a) < edit_distance(keyword, b); });
  if (edit_distance(keyword, *nearest) <= 2) return fmt::format("did you mean {}?", *nearest);
  return "the steps are " + joined(all);
}

}  // namespace

std::span<const StepRow> step_rows() {
  static const std::vector<StepRow> table = [] {
    std::vector<StepRow> all;
    for (const auto& rows : {
             loop_steps(),
             mark_steps(),
             place_steps(),
             cache_steps(),
             reduction_steps(),
             pipeline_steps(),
             layout_steps(),
             shape_steps(),
             grid_steps(),
         })
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return table;
}

const StepRow* find_step_row(std::string_view keyword) {
  for (const StepRow& r : step_rows())
    if (r.keyword == keyword) return &r;
  return nullptr;
}

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (char c : text) result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return result;
}

std::string to_string(const Step& step) {
  std::string text(step.keyword);
  const StepRow* row = find_step_row(step.keyword);
  if (!row) return text;  // check_step will refuse it
  size_t axis = 0, tensor = 0, result = 0, number = 0;
  const auto pieces = pieces_of(row->grammar);
  for (std::string_view piece : pieces) {
    const bool many = piece.size() == 3 && piece[2] == '*';
    if (piece[0] == '?') {
      if (number == step.numbers.size()) break;
      piece.remove_prefix(1);
    }
    if (piece != ",") text += ' ';
    if (piece[0] != '@') {
      text += piece;
      continue;
    }
    auto emit = [&](size_t& i, size_t count, auto format) {
      separated(many, [&] {
        text += i < count ? format(i) : "?";  // a step that check_step will refuse
        ++i;
        if (many && i < count) text += ", ";
        return i < count;
      });
    };
    switch (piece[1]) {
      case 'A':
        emit(axis, step.axes.size(), [&](size_t i) { return step.axes[i].stage + "." + step.axes[i].axis; });
        break;
      case 'T': emit(tensor, step.tensors.size(), [&](size_t i) { return step.tensors[i]; }); break;
      case 'R': emit(result, step.results.size(), [&](size_t i) { return step.results[i]; }); break;
      case 'N': emit(number, step.numbers.size(), [&](size_t i) { return std::to_string(step.numbers[i]); }); break;
      case 'W': text += step.word; break;
      case 'E': text += step.condition; break;
      case 'S':
        text += "{\n";
        for (const Step& inner : step.steps) text += indented(to_string(inner)) + "\n";
        text += "}";
        break;
    }
  }
  return text;
}

void check_step(const Step& step) {
  const StepRow* row = find_step_row(step.keyword);
  if (!row) throw Error(step.keyword, "there is no such schedule step", steps_like(step.keyword));
  const size_t parts[] = {step.axes.size(), step.tensors.size(), step.results.size(), step.numbers.size()};
  constexpr std::string_view letters = "ATRN";
  size_t least[4] = {}, most[4] = {};
  bool optional = false, conditional = false;
  for (std::string_view piece : pieces_of(row->grammar)) {
    optional |= piece[0] == '?';
    conditional |= piece == "@E";
    const size_t part = piece[0] == '@' ? letters.find(piece[1]) : std::string_view::npos;
    if (part == std::string_view::npos) continue;
    least[part] += !optional;
    most[part] += piece.size() == 3 ? 1 << 20 : 1;
  }
  bool fits = true;
  for (size_t i = 0; i < 4; ++i) fits &= least[i] <= parts[i] && parts[i] <= most[i];
  if (conditional && step.condition.empty())
    throw Error(to_string(step), "it has no condition", fmt::format("a step is written as \"{} {}\"", row->keyword, row->grammar));
  if (!fits)
    throw Error(to_string(step),
                fmt::format("it has {} axes, {} stages, {} new names and {} numbers", parts[0], parts[1], parts[2], parts[3]),
                fmt::format("a step is written as \"{} {}\"", row->keyword, row->grammar));
  if (!row->words.empty() && std::find(row->words.begin(), row->words.end(), step.word) == row->words.end())
    throw Error(to_string(step), fmt::format("\"{}\" does not fit {}", step.word, row->keyword), "use one of " + joined(row->words));
  for (const std::string& name : step.results) {
    bool letters_only = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    for (char c : name) letters_only &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!letters_only) throw Error(to_string(step), fmt::format("\"{}\" is not a name", name), "a name is letters, digits and _");
  }
}

Step parse_step(Lexer& lexer) {
  const Token keyword = lexer.peek();
  const std::string name = lexer.identifier("a schedule step");
  const StepRow* row = find_step_row(name);
  if (!row) lexer.fail_at(keyword, fmt::format("\"{}\" is not a schedule step", name), steps_like(name));
  Step step{name, {}, {}, {}, {}, {}};
  for (std::string_view piece : pieces_of(row->grammar)) {
    if (piece[0] == '?') {
      if (!lexer.accept(piece.substr(1))) break;
      continue;
    }
    if (piece[0] != '@') {
      lexer.expect(piece);
      continue;
    }
    const bool many = piece.size() == 3 && piece[2] == '*';
    auto read = [&](auto item) {
      separated(many, [&] {
        item();
        return many && lexer.accept(",");
      });
    };
    switch (piece[1]) {
      case 'A': read([&] { step.axes.push_back(parse_axis(lexer)); }); break;
      case 'T': read([&] { step.tensors.push_back(lexer.identifier("a stage")); }); break;
      case 'R': read([&] { step.results.push_back(lexer.identifier("a new name")); }); break;
      case 'N': read([&] { step.numbers.push_back(lexer.integer("a number")); }); break;
      case 'E': {
        std::map<std::string, Var> symbols;
        step.condition = to_string(parse_condition(lexer, [&](const std::string& symbol) {
          return is_reserved(symbol) ? std::nullopt : std::optional(symbols.emplace(symbol, Var(symbol)).first->second);
        }));
        break;
      }
      case 'S':
        lexer.expect("{");
        while (!lexer.accept("}")) {
          if (lexer.at_end()) lexer.fail("the steps are not closed", "end them with }");
          if (lexer.peek().is(name)) lexer.fail(fmt::format("{} stands inside {}", name, name), "write one after the other");
          step.steps.push_back(parse_step(lexer));
        }
        break;
      case 'W': {
        const Token at = lexer.peek();
        step.word = lexer.identifier("one of " + joined(row->words));
        bool fits = false;
        for (std::string_view w : row->words) fits |= w == step.word;
        if (!fits)
          lexer.fail_at(at, fmt::format("\"{}\" does not fit {}", step.word, row->keyword), "use one of " + joined(row->words));
      }
    }
  }
  return step;
}

Step parse_step(std::string_view text) {
  Lexer lexer(text, "step");
  Step step = parse_step(lexer);
  if (!lexer.at_end()) lexer.fail("unexpected text after the step");
  return step;
}

}  // namespace lathe
