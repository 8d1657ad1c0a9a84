#include "ir/schedule/loop_values.h"

#include "ir/simplify.h"

namespace lathe {

std::vector<Expr> loop_extents(const Stage& stage, const std::vector<Expr>& axis_extents, const BeforeSplit& before_split) {
  std::vector<Expr> extent = axis_extents;
  extent.resize(stage.loops.size());
  for (const LoopRelation& r : stage.relations) {
    if (r.kind == LoopRelation::Kind::fuse) {
      extent[r.fused] = extent[r.outer] * extent[r.inner];
    } else {
      if (before_split) before_split(r, extent);
      const Expr other = simplify(ceil_div(extent[r.fused], r.factor));
      extent[r.outer] = r.by_parts ? Expr(r.factor) : other;
      extent[r.inner] = r.by_parts ? other : Expr(r.factor);
    }
  }
  return extent;
}

std::vector<Expr> loop_values(const Stage& stage, const std::vector<Expr>& extents) {
  std::vector<Expr> value(stage.loops.size());
  for (int leaf : stage.leaves) value[leaf] = stage.loops[leaf].var;
  for (auto r = stage.relations.rbegin(); r != stage.relations.rend(); ++r) {
    const Expr& inner = extents[r->inner];
    if (r->kind == LoopRelation::Kind::split) {
      const bool shifted = r->tail == Tail::shift_inwards && has_tail(*r, extents);
      const Expr begin = value[r->outer] * inner;
      value[r->fused] = (shifted ? min(begin, extents[r->fused] - inner) : begin) + value[r->inner];
    } else if (is_constant(inner, 0)) {
      // An inner extent of 0 leaves no iteration at all; the division must still be one by a positive number.
      value[r->outer] = value[r->inner] = Expr(0);
    } else {
      value[r->outer] = value[r->fused] / inner;
      value[r->inner] = value[r->fused] % inner;
    }
  }
  return value;
}

bool has_tail(const LoopRelation& relation, const std::vector<Expr>& extents) {
  if (relation.kind != LoopRelation::Kind::split) return false;
  const int64_t* whole = as_constant(extents[relation.fused]);
  const int64_t* inner = as_constant(extents[relation.inner]);
  const int64_t* outer = as_constant(extents[relation.outer]);
  return !whole || !inner || !outer || *whole != *inner * *outer;
}

}  // namespace lathe
