// Lesson 3: 2-D convolution (NCHW), with stride, padding and dilation.
//
// Padding is a stage of its own, a `select` that reads the input only where there is one; computed inline, it costs no
// memory, and where a whole tile lies inside the image its conditions vanish. Four output channels and a run of
// output positions make a work-group's tile; the filters it needs are staged in LDS.
#include "examples/lesson.h"

using namespace lathe;

struct Conv {
  int64_t batch, channels, height, width;         // input: N, C, H, W
  int64_t filters, filter_height, filter_width;   // filters: K, C, R, S
  int64_t stride, pad, dilation;
  int64_t out(int64_t size, int64_t filter) const { return (size + 2 * pad - dilation * (filter - 1) - 1) / stride + 1; }
};

Module build_conv2d(const Conv& p, std::string_view target) {
  const int64_t oh = p.out(p.height, p.filter_height), ow = p.out(p.width, p.filter_width);
  Tensor X = placeholder({p.batch, p.channels, p.height, p.width}, f32, "X");
  Tensor W = placeholder({p.filters, p.channels, p.filter_height, p.filter_width}, f32, "W");
  Tensor P = compute({p.batch, p.channels, p.height + 2 * p.pad, p.width + 2 * p.pad},
                     [&](Expr n, Expr c, Expr y, Expr x) {
                       Expr inside = y >= p.pad && y < p.height + p.pad && x >= p.pad && x < p.width + p.pad;
                       return select(inside, X(n, c, y - p.pad, x - p.pad), 0.0f);
                     },
                     "P", {"n", "c", "y", "x"});
  ReduceAxis c = reduce_axis(p.channels, "c"), r = reduce_axis(p.filter_height, "r"), q = reduce_axis(p.filter_width, "s");
  Tensor Y = compute({p.batch, p.filters, oh, ow},
                     [&](Expr n, Expr k, Expr y, Expr x) {
                       Expr pixel = P(n, c.var, y * p.stride + r.var * p.dilation, x * p.stride + q.var * p.dilation);
                       return sum(pixel * W(k, c.var, r.var, q.var), {c, r, q});
                     },
                     "Y", {"n", "k", "y", "x"});

  Schedule s(Y);
  s[P].compute_inline();
  Tensor YL = s.cache_write(Y, registers);
  Tensor WS = s.cache_read(W, shared, {YL});

  // A work-group: one image, four filters, 64 positions of the output. A work-item: one position, four filters.
  auto [k0, k1] = s[Y].split(Y.axis(1), 4);
  s[Y].reorder({Y.axis(0), k0, Y.axis(2), Y.axis(3), k1});
  LoopRef position = s[Y].fuse({Y.axis(2), Y.axis(3)});
  auto [p0, p1] = s[Y].split(position, 64);
  s[Y].bind(Y.axis(0), block_z).bind(k0, block_y).bind(p0, block_x).bind(p1, thread_x).unroll(k1);

  s[YL].compute_at(s[Y], p1);
  s[YL].reorder({YL.reduce_axis(0), YL.reduce_axis(1), YL.reduce_axis(2), YL.axis(0), YL.axis(1), YL.axis(2), YL.axis(3)});
  s[YL].unroll(YL.axis(1));

  // The filters of one input channel, loaded by the whole group.
  s[WS].compute_at(s[YL], YL.reduce_axis(0));
  LoopRef flat = s[WS].fuse({WS.axis(0), WS.axis(1), WS.axis(2), WS.axis(3)});
  auto [rest, lane] = s[WS].split(flat, 64);
  s[WS].bind(lane, thread_x);
  return build(s, {X, W, Y}, target, "conv2d");
}

int conv2d(int argc, char** argv) {
  Device gpu = Device::open();
  bool equal = true;
  for (const Conv& p : {Conv{1, 1, 5, 5, 1, 2, 2, 1, 1, 1}, Conv{1, 16, 28, 28, 32, 3, 3, 2, 1, 1},
                        Conv{1, 16, 28, 28, 32, 3, 3, 2, 1, 2}}) {
    Module m = build_conv2d(p, gpu.info().target_id);
    lesson::show_sources(m, argc, argv);
    const int64_t oh = p.out(p.height, p.filter_height), ow = p.out(p.width, p.filter_width);
    Array x = Array::from_host(gpu, lesson::random_floats(p.batch * p.channels * p.height * p.width, 1),
                               {p.batch, p.channels, p.height, p.width});
    Array w = Array::from_host(gpu, lesson::random_floats(p.filters * p.channels * p.filter_height * p.filter_width, 2),
                               {p.filters, p.channels, p.filter_height, p.filter_width});
    Array y = Array::empty(gpu, f32, {p.batch, p.filters, oh, ow});
    m.load(gpu)["conv2d"](x, w, y);
    fmt::print("{} x {} x {} x {} -> {} x {} x {} x {}: ", p.batch, p.channels, p.height, p.width, p.batch, p.filters, oh, ow);
    equal &= lesson::check(m, {x, w, y});
  }
  return equal ? 0 : 1;
}

int main(int argc, char** argv) { return lesson::run(conv2d, argc, argv); }
