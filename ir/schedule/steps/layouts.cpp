// Steps that say how a tile stands in LDS, and who copies it there.
#include "ir/schedule/step_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "ir/schedule/step_context.h"

namespace lathe {
namespace {

// Only LDS has banks. Where a stage without a scope lives is known when loops are built; it is then asked again.
void could_be_shared(StepContext& c, const Stage& s) {
  if (s.is_output || (s.scope && *s.scope != Scope::shared))
    c.refuse(fmt::format("{} lives in {} memory", s.name, to_string(s.is_output ? Scope::global : *s.scope)),
             "only LDS has banks: cache_read or set_scope into shared first");
}

void storage_align(StepContext& c) {
  const auto& [name, axis] = c.step.axes[0];
  Stage& s = c.stage(name);
  could_be_shared(c, s);
  int found = -1;
  std::string known;
  for (size_t a = 0; a < s.axes.size(); ++a) {
    if (s.axes[a].var.name() == axis) found = static_cast<int>(a);
    known += (known.empty() ? "" : ", ") + s.name + "." + s.axes[a].var.name();
  }
  if (found < 0) c.refuse(fmt::format("{} has no axis {}", s.name, axis), "the axes are " + known);
  if (found + 1 == static_cast<int>(s.axes.size()))
    c.refuse(fmt::format("{}.{} is the innermost axis: its elements stand side by side", s.name, axis), "align an axis further out");
  const int64_t factor = c.step.numbers[0], offset = c.step.numbers[1];
  if (factor < 1 || factor > 4096 || offset < 0 || offset >= factor)
    c.refuse(fmt::format("a stride of {} modulo {} is not possible", offset, factor), "use a factor of 1 to 4096 and an offset below it");
  s.layout.aligned_axis = found;
  s.layout.factor = factor;
  s.layout.offset = offset;
}

void swizzle(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  could_be_shared(c, s);
  const int64_t vector = c.step.numbers[0], rows = c.step.numbers[1], period = c.step.numbers[2];
  if (s.axes.size() < 2) c.refuse(fmt::format("{} has one axis, and no rows", s.name), "swizzle tiles of two axes or more");
  if (vector < 1 || vector > 64 || rows < 1 || rows > 4096)
    c.refuse(fmt::format("pieces of {} elements in turns of {} rows are not possible", vector, rows), "use 1 to 64 elements and 1 to 4096 rows");
  if (period < 2 || period > 64 || !std::has_single_bit(static_cast<uint64_t>(period)))
    c.refuse(fmt::format("the period {} is not a power of two", period), "use 2, 4, 8, 16, 32 or 64");
  s.layout.vector = vector;
  s.layout.rows = rows;
  s.layout.period = period;
}

// The work-items of the kernel that a stage is computed in, along x, y and z: what the stages around it bind.
std::array<int64_t, 3> work_group_of(StepContext& c, const Stage& s) {
  std::array<int64_t, 3> extents = {1, 1, 1};
  for (const Stage* inner = &s; inner->attach == AttachKind::at;) {
    const Stage& host = c.stage(inner->attach_stage);
    for (int leaf : host.leaves) {
      if (!is_thread(host.loops[leaf].kind)) continue;
      const auto extent = constant_extent(host, leaf);
      if (!extent)
        c.refuse(fmt::format("how far {}.{} runs is not known yet", host.name, host.loops[leaf].name), "split it by a constant and bind the inner loop");
      extents[static_cast<size_t>(dimension(host.loops[leaf].kind))] = *extent;
    }
    inner = &host;
  }
  return extents;
}

void cooperative(StepContext& c) {
  Stage& s = c.stage(c.step.tensors[0]);
  const std::string name = s.name;
  const int64_t vector = c.step.numbers[0];
  could_be_shared(c, s);
  if (s.attach != AttachKind::at)
    c.refuse(fmt::format("{} is computed at the root", name), "compute_at it inside the kernel whose work-items shall share the work");
  if (!s.reduce_axes.empty()) c.refuse(fmt::format("{} is a reduction", name), "split and bind its data loops");
  if (s.leaves.empty()) c.refuse(fmt::format("{} is one element: there is no work to share", name), "leave it to the first work-item");
  bool plain = s.relations.empty() && std::is_sorted(s.leaves.begin(), s.leaves.end());
  for (int leaf : s.leaves) plain &= s.loops[leaf].kind == LoopKind::serial;
  if (!plain) c.refuse(fmt::format("{} has loops that steps changed", name), "this step fuses, splits and binds them all by itself");
  if (vector < 1 || vector > 64) c.refuse(fmt::format("vectors of {} elements are not possible", vector), "use 1 to 64");
  const std::array<int64_t, 3> extents = work_group_of(c, s);
  if (extents == std::array<int64_t, 3>{1, 1, 1})
    c.refuse("the kernel has one work-item", "bind loops of the stages around it to thread_x, thread_y or thread_z first");

  const auto step = [&](Step made) {
    StepContext inner(c.schedule, c.stages, made);
    find_step_row(made.keyword)->apply(inner);
  };
  std::string rest = s.loops[s.leaves[0]].name;
  if (s.leaves.size() > 1) {
    std::vector<AxisName> all;
    for (int leaf : s.leaves) all.push_back({name, s.loops[leaf].name});
    step({"fuse", all, {}, {"flat"}, {}, {}});
    rest = "flat";
  }
  if (vector > 1) {
    step({"split", {{name, rest}}, {}, {"vectors", "lane"}, {vector}, "guard"});
    step({"vectorize", {{name, "lane"}}, {}, {}, {}, {}});
    rest = "vectors";
  }
  for (LoopKind kind : {thread_x, thread_y, thread_z}) {
    const auto d = static_cast<size_t>(dimension(kind));
    if (extents[d] == 1) continue;
    const std::string index(to_string(kind)), outer = fmt::format("by_{}", index);
    step({"split", {{name, rest}}, {}, {outer, index}, {extents[d]}, "guard"});
    step({"bind", {{name, index}}, {}, {}, {}, index});
    rest = outer;
  }
}

}  // namespace

std::vector<StepRow> layout_steps() {
  return {
      {"cooperative", "@T vector @N", {}, cooperative, "the kernel's work-items compute P together, each vectors of 4 elements side by side"},
      {"storage_align", "@A by @N offset @N", {}, storage_align, "in LDS, rows along that axis begin at a stride of 1 modulo 32 elements"},
      {"swizzle", "@T vector @N rows @N period @N", {}, swizzle, "in LDS, piece c of row r stands at c ^ r / rows % period"},
  };
}

}  // namespace lathe
