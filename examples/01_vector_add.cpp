// Lesson 1: C = A + B for vectors of any length.
//
// `compute` says WHAT each element is; the schedule says, apart from that, HOW the loop runs: cut into pieces of 64,
// one piece a work-group, one element a work-item. n is known only when arrays arrive, so the last piece may be
// partial: Lathe guards that one alone.
//
//   01_vector_add            compiles, runs, compares with plain loops
//   01_vector_add --asm      also prints the machine code (--te, --ir and --llvm: what it came from)
#include "examples/lesson.h"

using namespace lathe;

int vector_add(int argc, char** argv) {
  Var n("n");
  Tensor A = placeholder({n}, f32, "A"), B = placeholder({n}, f32, "B");
  Tensor C = compute({n}, [&](Expr i) { return A(i) + B(i); }, "C");

  Schedule s(C);
  auto [bx, tx] = s[C].split(C.axis(0), 64);
  s[C].bind(bx, block_x).bind(tx, thread_x);

  Device gpu = Device::open();  // an AMD GPU, or the emulated one
  Module m = build(s, {A, B, C}, gpu.info().target_id, "myadd");
  lesson::show_sources(m, argc, argv);
  auto myadd = m.load(gpu)["myadd"];

  bool equal = true;
  for (int64_t length : {0, 1, 63, 64, 65, 1000, 1000003}) {
    Array a = Array::from_host(gpu, lesson::random_floats(length, 1));
    Array b = Array::from_host(gpu, lesson::random_floats(length, 2));
    Array c = Array::empty(gpu, f32, {length});
    myadd(a, b, c);  // n comes from the arrays' shapes
    fmt::print("n = {:>7}: ", length);
    equal &= lesson::check(m, {a, b, c});
  }
  return equal ? 0 : 1;
}

int main(int argc, char** argv) { return lesson::run(vector_add, argc, argv); }
