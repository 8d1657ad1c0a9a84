#include "compiler/codegen/link.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/codegen/llvm_options.h"
#include "runtime/base/error.h"

LLD_HAS_DRIVER(elf)

namespace lathe {
namespace {

// A directory of our own for the two files that lld insists on; gone when the link is over, however it ends. (lld
// renames a temporary file beside its output into place, so the output can be no memfd.)
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& where) {
    std::error_code error;
    const std::filesystem::path base = std::filesystem::temp_directory_path(error);
    std::string pattern = (base / "lathe-link-XXXXXX").string();
    if (error || !mkdtemp(pattern.data()))
      throw Error(where, "no temporary directory for the linker can be made in " + base.string(),
                  "set TMPDIR to a directory that can be written");
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::vector<uint8_t> link_code_object(std::span<const char> object, const std::string& where) {
  // After a fatal error lld cannot run again in this process (canRunAgain).
  static bool usable = true;
  const ScratchDirectory scratch(where);
  const std::string input = scratch.file("in.o"), output = scratch.file("out.so");
  std::ofstream file(input, std::ios::binary);
  file.write(object.data(), static_cast<std::streamsize>(object.size()));
  file.close();
  if (!file) throw Error(where, "writing " + input + " failed", "is the disk full?");

  std::string messages;
  {
    const auto lock = linking();
    if (!usable)
      throw Error(where, "the linker cannot be used any more after an earlier fatal error", "restart the process");
    llvm::raw_string_ostream stream(messages);
    // One thread: the object is small, and lld's pool would outlive the call.
    const char* arguments[] = {"ld.lld",       "-shared", "--no-undefined", "--threads=1",
                               input.c_str(), "-o",      output.c_str()};
    const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    usable = result.canRunAgain;
    if (result.retCode != 0) throw Error(where, "linking failed: " + messages);
  }
  std::ifstream linked(output, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(linked)), std::istreambuf_iterator<char>());
  if (bytes.empty()) throw Error(where, "reading the linker's output failed", "is the disk full?");
  return bytes;
}

}  // namespace lathe
