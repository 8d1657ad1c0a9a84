// How long a warm process compiles: milliseconds per pass and isl's share of them, median and least of several builds, for ten
// programs; then a chain of more and more stages. Never a test: machines are noisy. Goals: vector add 15 ms, the tiled GEMM
// 150 ms, no faster than linear growth with the number of stages.
//
//   bench_compile [PLOT.png]     also draws the growth (needs gnuplot)
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>

#include "compiler/build.h"
#include "ir/parse.h"
#include "tools/files.h"
#include "tools/keep_memory.h"

using namespace lathe;

namespace {

double cpu_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

void measure(const std::string& name) {
  const std::string path = std::string(LATHE_SOURCE_DIR) + "/tests/programs/" + name + ".te";
  const std::string text = read_text(path);
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> passes, isl;
  std::vector<double> wall, cpu, isl_total;
  for (int run = 0; run < 11; ++run) {
    const double before = cpu_milliseconds();
    const Module m = build(parse_program(text, path), "gfx942");
    const double spent = cpu_milliseconds() - before;
    if (run < 2) continue;  // warm up
    double total = 0, in_isl = 0;
    for (const PassTime& t : m.times()) {
      isl[t.pass].push_back(t.isl_milliseconds);
      in_isl += t.isl_milliseconds;
      if (!passes.count(t.pass)) order.push_back(t.pass);
      passes[t.pass].push_back(t.milliseconds);
      total += t.milliseconds;
    }
    wall.push_back(total);
    isl_total.push_back(in_isl / total);
    cpu.push_back(spent);
  }
  fmt::print("{} for gfx942: {:.1f} ms median, {:.1f} ms least; processor time {:.1f} ms median, {:.1f} ms least; isl {:.0f} %\n", name,
             median(wall), least(wall), median(cpu), least(cpu), 100 * median(isl_total));
  for (const std::string& pass : order) {
    const double share = median(passes[pass]) / median(wall);
    fmt::print("  {:<18} {:8.3f} ms {:8.3f} ms {:>11}  {}\n", pass, median(passes[pass]), least(passes[pass]),
               median(isl[pass]) > 0.01 ? fmt::format("isl {:.3f}", median(isl[pass])) : "", std::string(static_cast<size_t>(share * 40 + 0.5), '#'));
  }
}

// `count` element-wise stages one after the other, each a kernel of its own, or all inside the last one's tiles.
std::string chain(int count, bool in_tiles) {
  std::string text = "function chain<n>(S0: f32[n], out S" + std::to_string(count) + ")\n\n", schedule = "\nschedule {\n";
  for (int k = 1; k <= count; ++k) {
    text += fmt::format("S{}[i: n] = S{}[i] * 1.5 + S0[i]\n", k, k - 1);
    if (k == count || !in_tiles) schedule += fmt::format("  split S{0}.i -> a, b by 64, tail guard\n  bind S{0}.a to block_x\n  bind S{0}.b to thread_x\n", k);
  }
  for (int k = 1; k < count && in_tiles; ++k) schedule += fmt::format("  compute_at S{} at S{}.b\n", k, count);
  return text + schedule + "}\n";
}

void measure_growth(const char* png) {
  const std::vector<int> counts = {1, 2, 4, 8, 12, 16, 24, 32};
  std::string table = "# stages, ms with a kernel each, ms in one kernel's tiles (medians of 5, gfx942)\n";
  for (int count : counts) {
    double ms[2];
    for (bool in_tiles : {false, true}) {
      const std::string text = chain(count, in_tiles);
      std::vector<double> times;
      for (int run = 0; run < 6; ++run) {
        const double before = cpu_milliseconds();
        build(parse_program(text, "chain"), "gfx942");
        if (run > 0) times.push_back(cpu_milliseconds() - before);
      }
      ms[in_tiles] = median(times);
    }
    table += fmt::format("{} {:.2f} {:.2f}\n", count, ms[0], ms[1]);
  }
  fmt::print("{}", table);
  if (!png) return;
  const std::string data = std::string(png) + ".txt";
  write_file(data, {reinterpret_cast<const uint8_t*>(table.data()), table.size()});
  const std::string script = fmt::format(
      "set terminal pngcairo size 900,560; set output '{}'; set xlabel 'stages'; set ylabel 'compile time, ms of processor'; set key left top; "
      "set grid; set yrange [0:*]; plot '{}' using 1:2 with linespoints pt 7 title 'a kernel each', '' using 1:3 with linespoints pt 5 title 'all in one kernel'",
      png, data);
  if (std::system(fmt::format("gnuplot -e \"{}\"", script).c_str()) == 0) fmt::print("drawn in {}\n", png);
  else fmt::print("gnuplot did not draw {}: its numbers are in {}\n", png, data);
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  for (const char* name : {"vector_add", "vector_gather", "transpose", "stencil", "softmax", "layer_norm", "conv2d", "rfactor_argmax", "gemm", "gemm_odd"})
    measure(name);
  measure_growth(argc > 1 ? argv[1] : nullptr);
}
