#include "tools/explain/nests.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/pipeline.h"
#include "ir/print.h"
#include "ir/schedule/step_context.h"
#include "ir/visit.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

using Lines = std::vector<std::string>;

// ---- a whole nest: the statements, and what each buffer takes
void collect_allocs(const Stmt& s, std::vector<const AllocNode*>& found) {
  if (const auto* a = as<AllocNode>(s)) found.push_back(a);
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { collect_allocs(child, found); });
}

std::string size_of(const Tensor& t) {
  int64_t bytes = t.type().bytes();
  for (const Expr& extent : t.shape()) {
    const int64_t* constant = as_constant(extent);
    if (!constant || __builtin_mul_overflow(bytes, *constant, &bytes)) return "";
  }
  return bytes_text(bytes);
}

Lines nest_of(const LoweredFunction& f) {
  Lines lines = lines_of(to_string(f));
  std::vector<const AllocNode*> allocs;
  collect_allocs(f.body, allocs);
  size_t next = 0;
  for (std::string& line : lines) {
    if (line.find_first_not_of(' ') != line.find("alloc ") || next >= allocs.size()) continue;
    line += "  # " + size_of(allocs[next++]->tensor) + (line.find("alloc register") != std::string::npos ? " a work-item" : " a work-group");
  }
  return lines;
}

// ---- stages alone, while the schedule cannot be lowered yet
Lines stages_of(const Schedule& schedule) {
  Lines lines;
  for (const Stage& s : schedule.stages()) {
    std::string head = "stage " + s.name;
    if (s.attach == AttachKind::at) head += fmt::format(" at {}.{}", s.attach_stage, s.attach_loop);
    if (s.attach == AttachKind::with) head += fmt::format(" with {}.{}", s.attach_stage, s.attach_loop);
    if (s.attach == AttachKind::inlined) head += " inlined";
    if (s.scope) head += fmt::format(" in {}", to_string(*s.scope));
    lines.push_back(head);
    std::string indent = "  ";
    for (int leaf : s.leaves) {
      const StageLoop& loop = s.loops[static_cast<size_t>(leaf)];
      const auto extent = constant_extent(s, leaf);
      lines.push_back(fmt::format("{}for {}{}{}", indent, loop.kind == LoopKind::serial ? "" : std::string(to_string(loop.kind)) + " ", loop.name,
                                  extent ? fmt::format(" in 0 .. {}", *extent) : ""));
      indent += "  ";
    }
    for (size_t o = 0; o < s.outputs.size(); ++o)
      lines.push_back(fmt::format("{}{} = {}", indent, s.outputs[o].name(), to_string(s.body[o])));
  }
  return lines;
}

// Marks the lines that are not part of a longest common subsequence.
std::vector<NestLine> marked(const Lines& before, const Lines& after) {
  std::vector<std::vector<int>> common(before.size() + 1, std::vector<int>(after.size() + 1));
  for (size_t i = before.size(); i-- > 0;)
    for (size_t j = after.size(); j-- > 0;)
      common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<NestLine> lines;
  size_t i = 0;
  for (size_t j = 0; j < after.size(); ++j) {
    while (i < before.size() && before[i] != after[j] && common[i + 1][j] >= common[i][j + 1]) ++i;
    const bool same = i < before.size() && before[i] == after[j];
    lines.push_back({after[j], !same});
    i += same;
  }
  return lines;
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string bytes_text(int64_t bytes) {
  return bytes > 0 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} B", bytes);
}

std::vector<NestAfterStep> nests_after_steps(const Program& program, const Target& target) {
  const Schedule all(program);  // refuses an illegal step with its own message
  std::vector<NestAfterStep> result;
  Lines before;
  for (size_t count = 0; count <= program.steps.size(); ++count) {
    Program prefix = program;
    prefix.steps.resize(count);
    NestAfterStep after;
    if (count > 0) after.step = to_string(program.steps[count - 1]);
    Lines lines;
    try {
      PipelineOptions options;
      options.stop_after = "guard_tails";
      lines = nest_of(lower(prefix, target, options).function);
    } catch (const Error& unfinished) {
      if (count == program.steps.size()) throw;
      after.remark = fmt::format("no loops yet: {}: {}", unfinished.where(), unfinished.message());
      lines = stages_of(Schedule(prefix));
    }
    after.lines = count == 0 ? marked(lines, lines) : marked(before, lines);
    before = std::move(lines);
    result.push_back(std::move(after));
  }
  return result;
}

}  // namespace lathe
