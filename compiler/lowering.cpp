#include "compiler/lowering.h"

#include <fmt/format.h>

#include "runtime/base/error.h"

namespace lathe {

const Stage& Lowering::stage(std::string_view name) const {
  for (const Stage& s : stages)
    if (s.name == name) return s;
  LATHE_CHECK(false, "no stage " + std::string(name));
}

std::vector<const Stage*> Lowering::attached(const Stage& stage, const StageLoop& loop) const {
  std::vector<const Stage*> result;
  for (const Stage& s : stages)
    if (s.attach == AttachKind::at && s.attach_stage == stage.name && s.attach_loop == loop.name) result.push_back(&s);
  return result;
}

std::vector<const Stage*> Lowering::stored(const Stage& stage, const StageLoop& loop) const {
  std::vector<const Stage*> result;
  for (const Stage& s : stages)
    if (s.attach == AttachKind::at && s.store_stage == stage.name && s.store_loop == loop.name) result.push_back(&s);
  return result;
}

std::vector<const Stage*> Lowering::companions(const Stage& stage, const StageLoop& loop) const {
  std::vector<const Stage*> result;
  for (const Stage& s : stages)
    if (s.attach == AttachKind::with && s.attach_stage == stage.name && s.attach_loop == loop.name) result.push_back(&s);
  return result;
}

bool Lowering::has_attached(const Stage& stage, size_t first_leaf) const {
  for (size_t i = first_leaf; i < stage.leaves.size(); ++i)
    if (const StageLoop& loop = stage.loops[stage.leaves[i]]; !attached(stage, loop).empty() || !companions(stage, loop).empty()) return true;
  return false;
}

int64_t Lowering::ahead(const Stage& s) const {
  if (s.attach != AttachKind::at) return 0;
  const int64_t stages = stage(s.attach_stage).find_leaf(s.attach_loop)->stages;
  return stages > 1 ? stages - 1 : s.double_buffered ? 1 : 0;
}

std::vector<int64_t> stored_extents(const Stage& s, const StageBounds& b) {
  std::vector<int64_t> extents;
  for (const Expr& e : b.store_extent) extents.push_back(*as_constant(e));
  const StorageLayout& layout = s.layout;
  if (layout.vector > 0 && extents.back() % (layout.vector * layout.period) != 0)
    throw Error(fmt::format("swizzle {} vector {} rows {} period {}", s.name, layout.vector, layout.rows, layout.period),
                fmt::format("its rows have {} elements, no multiple of {} pieces of {}", extents.back(), layout.period, layout.vector),
                "use a shorter period or shorter pieces, or longer rows");
  if (layout.aligned_axis >= 0) {
    const auto axis = static_cast<size_t>(layout.aligned_axis);
    int64_t stride = 1;
    for (size_t d = axis + 1; d < extents.size(); ++d)
      if (__builtin_mul_overflow(stride, extents[d], &stride)) stride = INT64_MAX / 4;
    extents.resize(axis + 1);
    extents.push_back(stride + ((layout.offset - stride) % layout.factor + layout.factor) % layout.factor);
  }
  return extents;
}

std::vector<EnclosingLoop> enclosing_loops(const Lowering& l, const Stage& stage) {
  if (stage.attach != AttachKind::at) return {};
  const Stage& outer = l.stage(stage.attach_stage);
  std::vector<EnclosingLoop> result = enclosing_loops(l, outer);
  for (int leaf : outer.leaves) {
    result.push_back({&outer, leaf});
    if (outer.loops[leaf].name == stage.attach_loop) break;
  }
  return result;
}

}  // namespace lathe
