// How long a warm process compiles: milliseconds per pass, median and least of 15 builds. Never a test: machines are
// noisy. Goals: vector add 15 ms, the tiled GEMM 150 ms.
#include <fmt/format.h>

#include <algorithm>
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
  std::map<std::string, std::vector<double>> passes;
  std::vector<double> wall, cpu;
  for (int run = 0; run < 17; ++run) {
    const double before = cpu_milliseconds();
    const Module m = build(parse_program(text, path), "gfx942");
    const double spent = cpu_milliseconds() - before;
    if (run < 2) continue;  // warm up
    double total = 0;
    for (const PassTime& t : m.times()) {
      if (!passes.count(t.pass)) order.push_back(t.pass);
      passes[t.pass].push_back(t.milliseconds);
      total += t.milliseconds;
    }
    wall.push_back(total);
    cpu.push_back(spent);
  }
  fmt::print("{} for gfx942: {:.1f} ms median, {:.1f} ms least; processor time {:.1f} ms median, {:.1f} ms least\n", name,
             median(wall), least(wall), median(cpu), least(cpu));
  for (const std::string& pass : order) {
    const double share = median(passes[pass]) / median(wall);
    fmt::print("  {:<18} {:8.3f} ms {:8.3f} ms  {}\n", pass, median(passes[pass]), least(passes[pass]),
               std::string(static_cast<size_t>(share * 40 + 0.5), '#'));
  }
}

}  // namespace

int main() {
  keep_freed_memory();
  for (const char* name : {"vector_add", "gemm", "gemm_odd"}) measure(name);
}
