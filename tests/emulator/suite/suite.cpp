#include "suite.h"

#include <atomic>
#include <cstdlib>
#include <thread>

namespace emu_suite {
namespace {

struct Config {
  std::string arch, level;
  unsigned lanes;
  bool wide;  // wave64 where wave32 is usual
  std::string name() const { return arch + " " + level + (wide ? " wave64" : ""); }
};

// Every target at three levels; where waves of 64 are a choice, those at -O2 too (gfx1250 has waves of 32 alone).
// LATHE_EMULATOR_SUITE_TARGETS narrows the list.
std::vector<Config> configs() {
  const char* s = std::getenv("LATHE_EMULATOR_SUITE_TARGETS");
  const std::string list = s ? s : "gfx900,gfx906,gfx908,gfx90a,gfx942,gfx950,gfx1030,gfx1100,gfx1200,gfx1201,gfx1250";
  std::vector<Config> v;
  for (size_t from = 0; from < list.size();) {
    const size_t to = std::min(list.find(',', from), list.size());
    const std::string arch = list.substr(from, to - from);
    const bool wave32 = arch.compare(0, 4, "gfx1") == 0;
    for (const char* level : {"-O0", "-O2", "-O3"}) v.push_back({arch, level, wave32 ? 32u : 64u, false});
    if (wave32 && arch != "gfx1250") v.push_back({arch, "-O2", 64, true});
    from = to + 1;
  }
  return v;
}

std::string source(const char* file) {
  const auto prelude = read_file(LATHE_SUITE_KERNELS "/prelude.h"), text = read_file(std::string(LATHE_SUITE_KERNELS "/") + file);
  return std::string(prelude.begin(), prelude.end()) + "#line 1 \"" + file + "\"\n" + std::string(text.begin(), text.end());
}
std::string compile(const char* file, const std::string& text, const Config& c, const std::string& flags) {
  const std::string all = c.level + " -fwrapv -ffp-contract=off " + flags + (c.wide ? " -mwavefrontsize64" : "") + " -DLANES=" + std::to_string(c.lanes);
  return std::string(file).find(".hip") != std::string::npos ? compile_hip_text(text, c.arch, all) : compile_opencl_text(text, c.arch, all);
}

}  // namespace

void run_theme(const char* file, const char* flags, const std::vector<KernelTest>& kernels) {
  const auto all = configs();
  const std::string text = source(file);
  // clang is a process: two at a time. What fails to compile is reported below, with its message.
  std::vector<std::string> paths(all.size()), errors(all.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t k; (k = next++) < all.size();)
      try {
        paths[k] = compile(file, text, all[k], flags);
      } catch (const std::exception& e) {
        errors[k] = e.what();
      }
  };
  std::thread other(work);
  work();
  other.join();

  int runs = 0, failed = 0;
  for (size_t k = 0; k < all.size(); k++) {
    if (paths[k].empty()) {
      failed++;
      FAIL_CHECK(file << " for " << all[k].name() << ": " << errors[k]);
      continue;
    }
    Module module(all[k].arch, paths[k]);
    for (const KernelTest& t : kernels) {
      Gpu gpu{all[k].arch, all[k].level, all[k].lanes, module, t.kernel};
      runs++;
      try {
        t.run(gpu);
        SUCCEED();
      } catch (const std::exception& e) {
        failed++;
        FAIL_CHECK(t.kernel << " of " << file << " on " << all[k].name() << ": " << e.what());
      }
    }
  }
  std::printf("%-16s %3zu kernels on %2zu targets and levels: %4d runs, %d failed\n", file, kernels.size(), all.size(), runs, failed);
  std::fflush(stdout);
}

}  // namespace emu_suite
