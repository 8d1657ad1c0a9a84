// A GPU for raw code objects, through HIP's ABI: the emulated one. (The runtime takes packages; these tests stand
// below it.)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::test {

class Gpu {
 public:
  // Null when there is no emulator library (the build did not make one and LATHE_EMULATOR_LIBRARY names none).
  // Throws Error when there is one and it does not know `arch`.
  static std::unique_ptr<Gpu> open(const std::string& arch);
  virtual ~Gpu() = default;

  struct Buffer {
    std::vector<uint8_t> bytes;  // what the kernel finds, and after a launch what it left
  };
  // Loads `code_object` unless it is the one loaded last, and runs one kernel over blocks[3] x threads[3]. Arguments:
  // the buffers' addresses, then `symbols`. Throws Error with the emulator's report when the launch fails.
  virtual void launch(const std::vector<uint8_t>& code_object, const std::string& kernel, std::vector<Buffer>& buffers,
                      const std::vector<int64_t>& symbols, const int64_t (&blocks)[3], const int64_t (&threads)[3]) = 0;
};

}  // namespace lathe::test
