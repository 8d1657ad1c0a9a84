#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "ir/parse.h"
#include "ir/schedule/step_row.h"
#include "runtime/base/error.h"
#include "tools/commands.h"
#include "tools/explain/nests.h"
#include "tools/explain/page.h"
#include "tools/files.h"

namespace lathe {
namespace {

struct ExplainCommand {
  std::string file, target = "gfx942", html;
  bool list_steps = false;

  void run() const {
    if (list_steps) return list();
    if (file.empty()) throw Error("explain", "there is no file", "lathe explain FILE.te, or lathe explain --steps for the list of steps");
    const Program program = parse_program(read_text(file), file);
    const Target on = parse_target(target);
    const std::vector<NestAfterStep> steps = nests_after_steps(program, on);
    if (html.empty()) return print(steps);
    const std::string page = explain_page(program, on, steps);
    write_file(html, {reinterpret_cast<const uint8_t*>(page.data()), page.size()});
    fmt::print(stderr, "wrote {} ({} bytes)\n", html, page.size());
  }

  static void list() {
    for (const StepRow& row : step_rows()) fmt::print("{} {}\n    {}\n", row.keyword, row.grammar, row.summary);
  }

  // New lines carry a +.
  static void print(const std::vector<NestAfterStep>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      fmt::print("{}{}\n", i ? fmt::format("\nstep {}: ", i) : "the program without a schedule", steps[i].step);
      if (!steps[i].remark.empty()) fmt::print("  ({})\n", steps[i].remark);
      const bool changed = i == 0 || std::any_of(steps[i].lines.begin(), steps[i].lines.end(), [](const NestLine& l) { return l.is_new; }) ||
                           steps[i].lines.size() != steps[i - 1].lines.size();
      if (!changed) fmt::print("  (the nest is as before)\n");
      for (const NestLine& line : steps[i].lines)
        if (changed) fmt::print("{} {}\n", line.is_new ? '+' : ' ', line.text);
    }
  }
};

}  // namespace

void add_explain_command(CLI::App& app) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* sub = app.add_subcommand("explain", "Show the loop nest after each schedule step");
  sub->add_option("file", command->file, "The program: tensors and schedule");
  sub->add_option("--target", command->target, "Target id, such as gfx942")->capture_default_str();
  sub->add_option("--html", command->html, "Write one self-contained page: steps, loop nest, registers, LDS, and the assembly by statement");
  sub->add_flag("--steps", command->list_steps, "List every schedule step: how it is written and what it does");
  sub->callback([command] { command->run(); });
}

}  // namespace lathe
