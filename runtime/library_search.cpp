#include "runtime/library_search.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace lathe {
namespace {

constexpr const char* emulator_file = "liblathe_emulator.so";

bool from_environment(const char* variable, std::vector<std::string>& candidates) {
  const char* path = std::getenv(variable);
  if (!path || !*path) return false;
  candidates.push_back(path);
  return true;
}

// The folder of the file that holds this very code: the executable, or a shared library that linked the runtime.
std::filesystem::path folder_of_this_code() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&folder_of_this_code), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

std::vector<std::string> hip_library_candidates() {
  std::vector<std::string> candidates;
  if (from_environment("LATHE_HIP_LIBRARY", candidates)) return candidates;
  return {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
          "/opt/rocm/lib/libamdhip64.so"};
}

std::vector<std::string> emulator_library_candidates() {
  std::vector<std::string> candidates;
  if (from_environment("LATHE_EMULATOR_LIBRARY", candidates)) return candidates;
  std::error_code ignored;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& folder : {executable, folder_of_this_code()})
    if (!folder.empty())
      for (const auto& path : {folder / emulator_file, folder.parent_path() / "lib" / emulator_file})
        if (std::find(candidates.begin(), candidates.end(), path.string()) == candidates.end())
          candidates.push_back(path.string());
#ifdef LATHE_EMULATOR_BUILD_PATH
  candidates.push_back(LATHE_EMULATOR_BUILD_PATH);
#endif
  return candidates;
}

}  // namespace lathe
