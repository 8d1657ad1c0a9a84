// Lists the instructions without a row in code objects: emulator_coverage gfx942 a.hsaco b.hsaco ...
#include <cstdio>
#include <map>
#include <sstream>

#include "harness.h"

extern "C" const char* lathe_emulator_missing_rows(const char* arch, const void* image, size_t size);

int main(int argc, char** argv) {
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
