// What can be said about integer expressions without LLVM: their range and what they are a multiple of. Code
// generation asks it for alignments and to choose unsigned divisions; a wrong "yes" would be a miscompile, so
// every answer is sound and "do not know" is the whole range of the type (or a multiple of 1).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ir/expr.h"

namespace lathe {

// Variables and constants: nothing below them, so no memo needs an entry for them.
inline bool is_leaf(const Expr& e) {
  return e->kind == ExprKind::variable || e->kind == ExprKind::integer || e->kind == ExprKind::real;
}

// Both ends included.
struct IndexRange {
  int64_t low, high;
  bool nonnegative() const { return low >= 0; }
};

class IndexFacts {
 public:
  // From now on low <= var <= high and var is a multiple of `multiple`.
  void bind(const VarNode* var, IndexRange range, int64_t multiple = 1);

  // no_wrap: the value stands in an index position, where arithmetic never overflows.
  IndexRange range(const Expr& e, bool no_wrap);
  bool nonnegative(const Expr& e, bool no_wrap) { return range(e, no_wrap).nonnegative(); }
  // The largest power of two up to 2^16 that surely divides the value (every lane of it).
  int64_t multiple(const Expr& e);

 private:
  IndexRange compute_range(const Expr& e, bool no_wrap);
  int64_t compute_multiple(const Expr& e);

  struct Bound {
    IndexRange range;
    int64_t multiple;
  };
  std::unordered_map<const VarNode*, Bound> bound_;
  // Expressions are shared nodes: without these, a chain of shared sums takes exponential time. Each entry keeps its
  // node alive, so that no other can come to stand at the same address.
  template <class T>
  using Memo = std::unordered_map<const ExprNode*, std::pair<Expr, T>>;
  Memo<IndexRange> ranges_[2];
  Memo<int64_t> multiples_;
};

}  // namespace lathe
