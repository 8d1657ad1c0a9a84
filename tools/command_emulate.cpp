// lathe emulate: a HIP program that knows nothing of Lathe, on emulated GPUs. The program is run as it is; the dynamic
// linker finds the emulated GPU where it looks for AMD's library.
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/base/error.h"
#include "runtime/library_search.h"
#include "tools/commands.h"

namespace fs = std::filesystem;

namespace lathe {
namespace {

// The folder with HIP's library names, which the build makes beside the emulator.
fs::path folder_of_hip_names() {
  std::string tried;
  for (const std::string& library : emulator_library_candidates()) {
    const fs::path folder = fs::path(library).parent_path() / "emulated_hip";
    std::error_code ignored;
    if (fs::exists(folder / "libamdhip64.so.5", ignored)) return folder;
    tried += "\n  " + folder.string();
  }
  throw Error("lathe emulate", "the emulated GPU is not where it should be:" + tried, "build it with: ninja lathe_emulator; LATHE_EMULATOR_LIBRARY can name its path");
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::vector<std::string> known_targets(const fs::path& hip_names) {
  const fs::path library = hip_names / "libamdhip64.so";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error(library.string(), fmt::format("it cannot be loaded: {}", dlerror()));
  const auto targets = reinterpret_cast<const char* (*)()>(dlsym(handle, "lathe_emulator_targets"));
  if (!targets) throw Error(library.string(), "this is not the emulated GPU", "it has no entry point lathe_emulator_targets");
  return split(targets(), ' ');
}

// Where a shell would find the program.
fs::path find_program(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name, ignored)) throw Error(name, "there is no such program");
    if (fs::is_directory(name, ignored)) throw Error(name, "this is a directory");
    if (access(name.c_str(), X_OK) != 0) throw Error(name, "this is not executable");
    return name;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "/usr/bin:/bin", ':')) {
    const fs::path file = fs::path(folder) / name;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file;
  }
  throw Error(name, "no folder of PATH has such a program", fs::exists(name, ignored) ? fmt::format("for the one in this folder write ./{}", name) : "");
}

// What the program's file says of how its libraries are found.
struct Linkage {
  bool elf = false, interpreter = false, rpath = false, runpath = false, wide = true;
};
Linkage read_linkage(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  auto read = [&](uint64_t at, void* to, size_t size) {
    in.clear();
    in.seekg(static_cast<std::streamoff>(at));
    in.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return in.gcount() == static_cast<std::streamsize>(size);
  };
  Linkage l;
  Elf64_Ehdr head;
  if (!read(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return l;
  l.elf = true;
  l.wide = head.e_ident[EI_CLASS] == ELFCLASS64;
  for (unsigned k = 0; l.wide && k < head.e_phnum; ++k) {
    Elf64_Phdr segment;
    if (!read(head.e_phoff + k * sizeof segment, &segment, sizeof segment)) break;
    if (segment.p_type == PT_INTERP) l.interpreter = true;
    Elf64_Dyn entry;
    for (uint64_t at = 0; segment.p_type == PT_DYNAMIC && at + sizeof entry <= segment.p_filesz; at += sizeof entry) {
      if (!read(segment.p_offset + at, &entry, sizeof entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RPATH) l.rpath = true;
      if (entry.d_tag == DT_RUNPATH) l.runpath = true;
    }
  }
  return l;
}

void put_first(const char* variable, const std::string& value, char separator) {
  const char* old = std::getenv(variable);
  setenv(variable, (old && *old ? value + separator + old : value).c_str(), 1);
}

struct EmulateCommand {
  std::string arch = "gfx942", report;
  int devices = 1;
  bool fast = false;
  std::vector<std::string> words;

  void run() const {
    const fs::path names = folder_of_hip_names();
    const std::vector<std::string> known = known_targets(names);
    std::vector<std::string> archs = split(arch, ',');
    for (const std::string& a : archs)
      if (std::find(known.begin(), known.end(), a) == known.end())
        throw Error("--arch " + arch, fmt::format("there is no emulated {}", a), fmt::format("there are {}", fmt::join(known, ", ")));
    if (archs.empty()) throw Error("--arch", "it names no target", fmt::format("there are {}", fmt::join(known, ", ")));
    if (devices > 1 && archs.size() > 1) throw Error("--devices", "--arch already lists the devices", "give --devices with one --arch");
    archs.resize(std::max(archs.size(), static_cast<size_t>(devices)), archs.front());

    const fs::path program = find_program(words.front());
    const Linkage linkage = read_linkage(program);
    if (linkage.elf && !linkage.wide) throw Error(program.string(), "this is a 32-bit program", "HIP is for 64-bit programs");
    if (linkage.elf && !linkage.interpreter)
      throw Error(program.string(), "this program is linked statically", "only a program that loads libamdhip64.so can be given another one: link it dynamically");
    // An RPATH (not a RUNPATH) is looked at before LD_LIBRARY_PATH. A library that is there already comes first in any case.
    if (linkage.rpath && !linkage.runpath) put_first("LD_PRELOAD", (names / "libamdhip64.so.5").string(), ':');
    put_first("LD_LIBRARY_PATH", names.string(), ':');
    setenv("LATHE_EMULATOR_ARCH", fmt::format("{}", fmt::join(archs, ",")).c_str(), 1);
    if (fast) setenv("LATHE_EMULATOR", "fast", 1);
    if (!report.empty()) {
      setenv("LATHE_EMULATOR_REPORT", report.c_str(), 1);
      setenv("LATHE_EMULATOR_COUNTERS", "1", 1);   // lines and bank conflicts too
    }

    // From here on this process is the program: exit status and signals are its own.
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    throw Error(program.string(), fmt::format("it cannot be started: {}", std::strerror(errno)));
  }
};

}  // namespace

void add_emulate_command(CLI::App& app) {
  auto command = std::make_shared<EmulateCommand>();
  CLI::App* sub = app.add_subcommand("emulate", "Run any HIP program, unmodified, on emulated GPUs");
  sub->add_option("--arch", command->arch, "The GPU, gfx942 without it; gfx90a,gfx1100 makes two devices");
  sub->add_option("--devices", command->devices, "So many GPUs of that kind")->check(CLI::Range(1, 64));
  sub->add_option("--report", command->report, "What the program ran, on standard error at its end: counters (a table) or json")->check(CLI::IsMember({"counters", "json"}));
  sub->add_flag("--fast", command->fast, "Leave out the strict checks");
  sub->add_option("program", command->words, "-- PROGRAM ARGUMENTS: its exit status becomes this one's")->required();
  sub->footer("Example: lathe emulate --arch gfx90a --devices 2 --report counters -- ./program arguments");
  sub->callback([command] { command->run(); });
}

}  // namespace lathe
