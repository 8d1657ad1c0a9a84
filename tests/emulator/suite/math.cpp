#include "suite.h"

using namespace emu_suite;

namespace {

// Bounds in ulp as the OpenCL C specification has them for f32 and f64 ("Relative error as ulps"), column by column.
template <class T>
void compare(const std::vector<T>& got, const std::vector<long double>& want, const std::vector<double>& bounds) {
  const size_t w = bounds.size();
  for (size_t c = 0; c < w; c++) {
    std::vector<T> g;
    std::vector<long double> v;
    for (size_t k = c; k < got.size(); k += w) g.push_back(got[k]), v.push_back(want[k]);
    try {
      expect_near(g, v, bounds[c]);
    } catch (const std::exception& e) {
      throw std::runtime_error("function " + std::to_string(c) + ", " + e.what());
    }
  }
}
constexpr int n = 400;
template <class T>
struct Inputs {
  std::vector<T> x = uniform<T>(n, 1, -20, 20), y = uniform<T>(n, 2, -20, 20), u = uniform<T>(n, 3, -0.999, 0.999), p = uniform<T>(n, 4, 1e-3, 30);
  Inputs() {
    // Small and large arguments, the latter for the reduction by pi.
    for (size_t k = 0; k < n; k += 4) x[k] *= T(1e-4), u[k] *= T(1e-3), p[k] *= T(1e6);
  }
};
template <class T>
void trigonometry(Gpu& g) {
  Inputs<T> in;
  for (size_t k = 1; k < n; k += 8) in.x[k] *= T(12345.678);
  std::vector<long double> want;
  for (size_t k = 0; k < n; k++) {
    const long double x = in.x[k], y = in.y[k], u = in.u[k];
    for (const long double v : {sinl(x), cosl(x), tanl(x), asinl(u), acosl(u), atanl(x), atan2l(x, y)}) want.push_back(v);
  }
  int count = n;
  Buffer<T> out(want.size());
  g.run({blocks(n)}, {64}, out, Buffer<T>(in.x), Buffer<T>(in.y), Buffer<T>(in.u), count);
  compare(out.get(), want, {4, 4, 5, 4, 4, 5, 6});
}
template <class T>
void exponentials(Gpu& g) {
  const Inputs<T> in;
  std::vector<long double> want;
  for (size_t k = 0; k < n; k++) {
    const long double x = in.x[k], u = in.u[k], p = in.p[k];
    for (const long double v : {expl(x), exp2l(x), powl(10, x / 4), expm1l(u), logl(p), log2l(p), log10l(p), log1pl(u), powl(p, u * 4)}) want.push_back(v);
  }
  int count = n;
  Buffer<T> out(want.size());
  g.run({blocks(n)}, {64}, out, Buffer<T>(in.x), Buffer<T>(in.u), Buffer<T>(in.p), count);
  compare(out.get(), want, {3, 3, 3, 3, 3, 3, 3, 2, 16});
}
template <class T>
void hyperbolics(Gpu& g) {
  const Inputs<T> in;
  std::vector<long double> want;
  for (size_t k = 0; k < n; k++) {
    const T x = in.x[k], y = in.y[k], p = in.p[k];
    for (const long double v : {sinhl(x), coshl(x), tanhl(x), erfl(x), cbrtl(x), 1 / sqrtl(p), hypotl(x, y), (long double)(std::fmod(x * T(1000), y)), (long double)(std::remainder(x * T(1000), y))}) want.push_back(v);
  }
  int count = n;
  Buffer<T> out(want.size());
  g.run({blocks(n)}, {64}, out, Buffer<T>(in.x), Buffer<T>(in.y), Buffer<T>(in.p), count);
  compare(out.get(), want, {4, 4, 5, 16, 2, 2, 4, 0, 0});
}
void halves(Gpu& g) {
  const auto x = uniform<f16>(n, 5, -8, 8), p = uniform<f16>(n, 6, 0.01, 1000);
  std::vector<long double> want;
  for (size_t k = 0; k < n; k++) {
    const long double v = f32(x[k]), q = f32(p[k]);
    for (const long double r : {expl(v), logl(q), tanhl(v), exp2l(v), log2l(q), 1 / sqrtl(q)}) want.push_back(r);
  }
  int count = n;
  Buffer<f16> out(want.size());
  g.run({blocks(n)}, {64}, out, Buffer<f16>(x), Buffer<f16>(p), count);
  compare(out.get(), want, {2, 2, 2, 2, 2, 1});
}

}  // namespace

TEST_CASE("suite: math", "[suite]") {
  const std::string libraries = LATHE_DEVICE_LIBS;
  if (libraries.empty()) {
    WARN("rocm-device-libs is not installed: the functions of ocml are not tested");
    return;
  }
  const std::string flags = "-Xclang -mlink-builtin-bitcode -Xclang " + libraries + "/ocml.bc";
  run_theme("math.hip", flags.c_str(), {
    {"trigonometry_f32", trigonometry<f32>}, {"trigonometry_f64", trigonometry<f64>}, {"exponentials_f32", exponentials<f32>}, {"exponentials_f64", exponentials<f64>},
    {"hyperbolics_f32", hyperbolics<f32>}, {"hyperbolics_f64", hyperbolics<f64>}, {"halves", halves},
  });
}
