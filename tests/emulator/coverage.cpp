// Lists the instructions without a row:
//   emulator_coverage gfx942 a.hsaco b.hsaco ...     in code objects
//   emulator_coverage --all [gfx942 ...]             of all that LLVM decodes: a line of figures per target
//   emulator_coverage --missing gfx942               the names behind such a line
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "encodings.h"
#include "harness.h"

extern "C" const char* lathe_emulator_missing_rows(const char* arch, const void* image, size_t size);
extern "C" const char* lathe_emulator_describe(const char* arch, unsigned lanes, const void* bytes, size_t size);

namespace {

// Graphics: images, exports, interpolation, ray tracing, primitive order. They stop a launch by name.
bool graphics(const std::string& opcode) {
  for (const char* p : {"IMAGE_", "EXP", "EXPORT", "V_INTERP", "LDS_PARAM", "LDS_DIRECT", "DS_BVH", "DS_ORDERED", "DS_GWS", "S_ATC", "S_ENDPGM_ORDERED", "DS_PARAM", "DS_DIRECT", "S_SENDMSGHALT", "S_TTRACE", "S_CBRANCH_CDBG", "S_INCPERF",
                        "S_DECPERF", "S_SET_GPR_IDX_MODE", "S_RFE", "S_CBRANCH_G_FORK", "S_CBRANCH_I_FORK", "S_CBRANCH_JOIN", "S_PERF", "S_SETKILL"})
    if (opcode.rfind(p, 0) == 0) return true;
  return opcode.find("_TFE") != std::string::npos;
}

struct Coverage {
  std::set<std::string> rows, graphics, missing;
};
Coverage cover(const std::string& arch) {
  std::map<std::string, int> seen;  // 1: missing in some form, 2: a row in some form
  const unsigned lanes = emu_test::generation(arch) == 9 ? 64 : 32;
  emu_test::each_encoding(arch, lanes, 2, [&](const emu_test::Encoding& e) {
    const std::string text = lathe_emulator_describe(arch.c_str(), lanes, e.bytes.data(), e.bytes.size());
    const bool missing = text.rfind("missing", 0) == 0 && text.find("clamp") == std::string::npos;
    seen[e.opcode] |= missing ? 1 : 2;
  });
  Coverage c;
  for (const auto& [opcode, how] : seen) (how & 2 ? c.rows : graphics(opcode) ? c.graphics : c.missing).insert(opcode);
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "--all";
  if (mode == "--all") {
    std::vector<std::string> targets(argv + std::min(argc, 2), argv + argc);
    if (targets.empty()) targets = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"};
    std::printf("%-8s %8s %10s %9s %9s\n", "target", "decoded", "with rows", "graphics", "missing");
    for (const std::string& t : targets) {
      const Coverage c = cover(t);
      std::printf("%-8s %8zu %10zu %9zu %9zu\n", t.c_str(), c.rows.size() + c.graphics.size() + c.missing.size(), c.rows.size(), c.graphics.size(), c.missing.size());
    }
    return 0;
  }
  if (mode == "--missing") {
    for (int k = 2; k < argc; k++)
      for (const auto& opcode : cover(argv[k]).missing) std::printf("%s\n", opcode.c_str());
    return 0;
  }
  std::map<std::string, int> total;
  for (int k = 2; k < argc; k++) {
    const auto bytes = emu_test::read_file(argv[k]);
    std::istringstream in(lathe_emulator_missing_rows(argv[1], bytes.data(), bytes.size()));
    std::string line;
    while (std::getline(in, line)) {
      const size_t at = line.rfind(' ');
      if (line.compare(0, 5, "error") == 0) std::printf("%s: %s\n", argv[k], line.c_str());
      else total[line.substr(0, at)] += std::atoi(line.c_str() + at);
    }
  }
  for (const auto& [name, count] : total) std::printf("%-40s %d\n", name.c_str(), count);
}
