// The certificate: it proves what the passes make, and disproves it when a barrier, a guard or an index is spoiled.
#include <catch2/catch.hpp>

#include "compiler/build.h"
#include "compiler/certificate/certificate.h"
#include "compiler/passes/passes.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/visit.h"

using namespace lathe;
using Catch::Matchers::Contains;

namespace {

constexpr const char* reverse = R"(
function reverse<n>(A: f32[n], out C)
S[i: n] = A[i] * 2.0
C[i: n] = S[n - 1 - i] + 1.0
schedule {
  split C.i -> i0, i1 by 64, tail guard
  bind C.i0 to block_x
  bind C.i1 to thread_x
  set_scope S to shared
  compute_at S at C.i0
  split S.i -> s0, s1 by 64, tail guard
  bind S.s1 to thread_x
}
)";
constexpr const char* matmul = R"(
function matmul(A: f32[40, 24], B: f32[24, 36], out C)
C[i: 40, j: 36] = sum[k: 24](A[i, k] * B[k, j])
schedule {
  cache_write C -> CL in register
  tile C.i, C.j -> i0, j0, ty, tx by 8, 8, tail guard
  bind C.i0 to block_y
  bind C.j0 to block_x
  bind C.ty to thread_y
  bind C.tx to thread_x
  compute_at CL at C.tx
  split CL.k -> k0, k1 by 8, tail guard
  reorder CL.k0, CL.k1, CL.i, CL.j
  cache_read A -> AS in shared for CL
  cache_read B -> BS in shared for CL
  compute_at AS at CL.k0
  compute_at BS at CL.k0
  bind AS.ax0 to thread_y
  bind AS.ax1 to thread_x
  bind BS.ax0 to thread_y
  bind BS.ax1 to thread_x
}
)";

Lowering lowered(const std::string& text) {
  PipelineOptions options;
  options.stop_after = "unroll_loops";
  return lower(parse_program(text, "test"), parse_target("gfx942"), options);
}
Certificate certificate_of(Lowering l) {
  flatten_storage(l);
  narrow_indices(l);
  return certify(l.nested, l.function, l.target);
}
Verdict verdict(const Certificate& c, const std::string& kind) {
  Verdict worst = Verdict::proved;
  bool found = false;
  for (const Claim& claim : c.claims)
    if (claim.kind == kind) {
      found = true;
      if (worst != Verdict::disproved && claim.verdict != Verdict::proved) worst = claim.verdict;
    }
  INFO(c.text());
  REQUIRE(found);
  return worst;
}

// Rebuilds a statement with the n-th node that `is` picks replaced by what `by` makes of it. Counts in `seen`.
Stmt replace_nth(const Stmt& s, int n, int& seen, const std::function<bool(const Stmt&)>& is, const std::function<Stmt(const Stmt&)>& by) {
  const bool mine = is(s) && seen++ == n;
  const Stmt mapped = map_children(
      s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return replace_nth(child, n, seen, is, by); });
  return mine ? by(mapped) : mapped;
}
struct Mutants {
  int total = 0, disproved = 0;
  std::string survivors;
};
// Every place that `is` picks, spoiled one at a time.
Mutants mutate(const std::string& text, const std::function<bool(const Stmt&)>& is, const std::function<Stmt(const Stmt&)>& by) {
  Mutants m;
  for (size_t k = 0; k < lowered(text).function.kernels.size(); ++k)
    for (int n = 0;; ++n) {
      Lowering l = lowered(text);
      int seen = 0;
      Kernel& kernel = l.function.kernels[k];
      kernel.body = replace_nth(kernel.body, n, seen, is, by);
      if (seen <= n) break;
      const Certificate c = certificate_of(l);
      m.total++;
      if (c.verdict() == Verdict::disproved) m.disproved++;
      else m.survivors += c.text();
    }
  return m;
}
bool is_kind(const Stmt& s, StmtKind kind) { return s->kind == kind; }

}  // namespace

TEST_CASE("the passes' work is proved") {
  for (const char* text : {reverse, matmul}) {
    const Certificate c = certificate_of(lowered(text));
    INFO(c.text());
    REQUIRE(c.verdict() == Verdict::proved);
    for (const char* kind : {"bounds", "written once", "order", "barriers", "limits", "indices"}) REQUIRE(verdict(c, kind) == Verdict::proved);
  }
}

TEST_CASE("loops over products of sizes are proved") {
  const Certificate c = certificate_of(lowered(R"(
function f<m, n>(A: f32[m, n], B: f32[n], out C)
C[i: m, j: n] = A[i, j] + B[j]
schedule {
  fuse C.i, C.j -> f
  split C.f -> f0, f1 by 64, tail guard
  bind C.f0 to block_x
  bind C.f1 to thread_x
}
)"));
  INFO(c.text());
  REQUIRE(c.verdict() == Verdict::proved);
}

TEST_CASE("swizzled tiles are proved") {
  Lowering l = lowered(reverse);
  const std::string text = R"(
function transpose<m, n>(A: f32[m, n], out C: f32[n, m])

kernel transpose<m, n>(A: f32[m, n], out C: f32[n, m]) grid [(m + 31) / 32, (n + 31) / 32, 1] block [32, 8, 1] indices [bx, by, bz, tx, ty, tz] {
  alloc shared AS: f32[32, 32] {
    for r in 0 .. 4 {
      if bx * 32 + r * 8 + ty < m && by * 32 + tx < n {
        AS[r * 8 + ty, tx ^ (r * 8 + ty) % 32] = A[bx * 32 + r * 8 + ty, by * 32 + tx]
      }
    }
    barrier
    for s in 0 .. 4 {
      if by * 32 + s * 8 + ty < n && bx * 32 + tx < m {
        C[by * 32 + s * 8 + ty, bx * 32 + tx] = AS[tx, (s * 8 + ty) ^ tx % 32]
      }
    }
  }
}
)";
  l.function = parse_function(text);
  const Certificate c = certificate_of(l);
  INFO(c.text());
  REQUIRE(c.verdict() == Verdict::proved);
  // Of 24 pieces an exclusive or makes up to 32.
  std::string spoiled = text;
  spoiled.replace(spoiled.find("AS: f32[32, 32]"), 15, "AS: f32[32, 24]");
  l.function = parse_function(spoiled);
  REQUIRE(verdict(certificate_of(l), "bounds") != Verdict::proved);
}

TEST_CASE("each barrier is needed, and the certificate knows which accesses it parts") {
  for (const char* text : {reverse, matmul}) {
    const Mutants m = mutate(text, [](const Stmt& s) { return is_kind(s, StmtKind::barrier); }, [](const Stmt&) { return make_block({}); });
    INFO(text << m.survivors);
    REQUIRE(m.total > 0);
    REQUIRE(m.disproved == m.total);
  }
  Lowering l = lowered(reverse);
  int seen = 0;
  l.function.kernels[0].body = replace_nth(l.function.kernels[0].body, 0, seen, [](const Stmt& s) { return is_kind(s, StmtKind::barrier); }, [](const Stmt&) { return make_block({}); });
  REQUIRE_THAT(certificate_of(l).text(), Contains("disproved  order") && Contains("is written by one work-item and S[") && Contains("read by another with no barrier in between (for ") && Contains("tx' = "));
}

TEST_CASE("a store beside its place is disproved") {
  // One survives: the narrow last tile of B in LDS has room beside it, so that only values are wrong, which is for the
  // evaluator to say.
  for (auto [text, survivors] : {std::pair{reverse, 0}, {matmul, 1}}) {
    const Mutants m = mutate(
        text, [](const Stmt& s) { return as<StoreNode>(s) && as<StoreNode>(s)->tensor.rank() > 0 && as<StoreNode>(s)->tensor.name() != "CL"; },
        [](const Stmt& s) {
          const auto* store = as<StoreNode>(s);
          std::vector<Expr> indices = store->indices;
          indices.back() = indices.back() + 1;
          return make_store(store->tensor, indices, store->value);
        });
    INFO(text << m.survivors);
    REQUIRE(m.total > survivors);
    REQUIRE(m.disproved == m.total - survivors);
  }
}

TEST_CASE("a guard that is dropped is disproved") {
  for (const char* text : {reverse, matmul}) {
    const Mutants m = mutate(text, [](const Stmt& s) { return is_kind(s, StmtKind::branch); }, [](const Stmt& s) { return as<BranchNode>(s)->then_body; });
    INFO(text << m.survivors);
    REQUIRE(m.total > 0);
    REQUIRE(m.disproved == m.total);
  }
}

TEST_CASE("a barrier under a condition on work-items is disproved") {
  Lowering l = lowered(reverse);
  Kernel& k = l.function.kernels[0];
  int seen = 0;
  k.body = replace_nth(k.body, 0, seen, [](const Stmt& s) { return is_kind(s, StmtKind::barrier); }, [&](const Stmt& s) { return make_branch(k.thread_index[0] < 32, s); });
  const Certificate c = certificate_of(l);
  REQUIRE(verdict(c, "barriers") == Verdict::disproved);
  REQUIRE(verdict(c, "order") == Verdict::disproved);
  REQUIRE_THAT(c.text(), Contains("a barrier stands where work-items of a group may part: under tx < 32"));
}

TEST_CASE("flat indices that are not the nested ones are disproved") {
  Lowering l = lowered(matmul);
  flatten_storage(l);
  Kernel& k = l.function.kernels[0];
  int seen = 0;
  k.body = replace_nth(k.body, 0, seen, [](const Stmt& s) { return is_kind(s, StmtKind::store); }, [](const Stmt& s) {
    const auto* store = as<StoreNode>(s);
    return make_store(store->tensor, {store->indices[0] + 1}, store->value);
  });
  const Certificate c = certify(l.nested, l.function, l.target);
  REQUIRE(verdict(c, "indices") == Verdict::disproved);
  REQUIRE(verdict(c, "bounds") == Verdict::proved);
}

TEST_CASE("32-bit arithmetic that loses bits is disproved") {
  Lowering l = lowered("function far(A: f32[3000000000], out C)\nC[i: 3000000000] = A[i]\nschedule {\n  split C.i -> i0, i1 by 256, tail guard\n  bind C.i0 to block_x\n  bind C.i1 to thread_x\n}\n");
  flatten_storage(l);
  REQUIRE(certify(l.nested, l.function, l.target).verdict() == Verdict::proved);
  Kernel& k = l.function.kernels[0];
  int seen = 0;
  k.body = replace_nth(k.body, 0, seen, [](const Stmt& s) { return is_kind(s, StmtKind::store); }, [](const Stmt& s) {
    const auto* store = as<StoreNode>(s);
    return make_store(store->tensor, {make_cast(i32, store->indices[0])}, store->value);
  });
  const Certificate c = certify(l.nested, l.function, l.target);
  REQUIRE(verdict(c, "indices") == Verdict::disproved);
  REQUIRE_THAT(c.text(), Contains("does not fit 32 bits"));
}

TEST_CASE("what depends on data is left undecided, and named") {
  const auto gather = [](const std::string& index) {
    return certificate_of(lowered("function gather<m>(A: f32[m], I: i64[64], out C)\nC[i: 64] = " + index + "\nschedule {\n  bind C.i to thread_x\n}\n"));
  };
  const Certificate c = gather("A[I[i]]");
  REQUIRE(verdict(c, "bounds") == Verdict::undecided);
  REQUIRE(verdict(c, "written once") == Verdict::proved);
  REQUIRE_THAT(c.text(), Contains("A[I[") && Contains("depends on data"));
  // What holds whatever the data is proved: nobody writes I, so that both reads of it give the same.
  REQUIRE(verdict(gather("select(I[i] >= 0 && I[i] < m, A[I[i]], 0.0)"), "bounds") == Verdict::proved);
}

TEST_CASE("build proves, unless told not to") {
  const Module m = build(parse_program(reverse, "test"), "gfx1100");
  REQUIRE(m.certificate().verdict() == Verdict::proved);
  REQUIRE(m.certificate().text().find("proved     written once  reverse: every element of C is written, by one work-item") != std::string::npos);
  const PackageData package = read_package(m.package(), "package");
  REQUIRE(package.certificates == std::vector<CertificateData>{{"reverse", package.code_objects.at(0).target, m.certificate().claims}});
  BuildOptions options;
  options.certify = false;
  REQUIRE(build(parse_program(reverse, "test"), "gfx1100", options).certificate().claims.empty());
}
