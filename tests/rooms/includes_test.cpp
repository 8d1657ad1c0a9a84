// The arrows between the rooms, enforced on every #include line of the tree.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

// A room, and what its files may include besides themselves: folders of ours, and libraries that the table below
// restricts. The most specific room of a file counts. A new arrow is a change of this table, with a reason.
struct Room {
  std::string_view path;
  std::vector<std::string_view> may_include;
};
const std::vector<Room> rooms = {
    {"runtime/base", {"flatbuffers"}},
    {"runtime", {"runtime/base", "hip"}},
    {"runtime/emulator", {"runtime/base", "hip", "llvm"}},
    {"ir", {"runtime/base", "isl"}},
    {"compiler", {"ir", "runtime/base", "compiler/codegen"}},
    {"compiler/codegen", {"compiler", "ir", "runtime/base", "llvm", "lld"}},
    {"schedules", {"ir", "runtime/base"}},
    {"tools", {"runtime", "ir", "compiler", "schedules"}},
    {"examples", {"runtime", "ir", "compiler", "schedules"}},
    // The operand check reads LLVM's tables to make encodings of every opcode.
    {"tests/emulator", {"runtime", "hip", "catch2", "llvm"}},
    {"tests", {"runtime", "ir", "compiler", "schedules", "tools", "hip", "catch2"}},
};

// Libraries that may be included only where a room's row names them.
const std::vector<std::string_view> restricted = {"llvm", "lld",  "clang", "isl", "flatbuffers",
                                                  "hip",  "catch2", "google", "onnx"};

// Within the runtime, HIP's headers stay behind this one, so that no public header needs them.
constexpr std::string_view only_hip_header = "runtime/hip_api.h";

bool is_under(std::string_view file, std::string_view folder) {
  return file.size() > folder.size() && file.substr(0, folder.size()) == folder && file[folder.size()] == '/';
}

const Room* room_of(std::string_view file) {
  const Room* best = nullptr;
  for (const Room& room : rooms)
    if (is_under(file, room.path) && (!best || room.path.size() > best->path.size())) best = &room;
  return best;
}

// "" when `file` may include `included`, else why not.
std::string why_forbidden(std::string_view file, std::string_view included) {
  const Room* room = room_of(file);
  if (!room) return "";
  auto listed = [&](std::string_view what) {
    return std::find(room->may_include.begin(), room->may_include.end(), what) != room->may_include.end();
  };
  const std::string_view top = included.substr(0, included.find('/'));
  if (std::find(restricted.begin(), restricted.end(), top) != restricted.end()) {
    if (!listed(top)) return std::string(room->path) + " may not include " + std::string(top);
    if (top == "hip" && room->path == "runtime" && file != only_hip_header)
      return "HIP's headers are included by " + std::string(only_hip_header) + " alone";
    return "";
  }
  const Room* other = room_of(included);
  if (!other || other == room) return "";
  for (std::string_view allowed : room->may_include)
    if (other->path == allowed || is_under(other->path, allowed)) return "";
  return std::string(room->path) + " may not include " + std::string(other->path);
}

// A quoted path is relative to the tree's root, or names a file of the includer's own room: else the table above
// would not see it. "" when it does, else why not.
std::string why_unseen(const fs::path& root, std::string_view file, std::string_view included) {
  if (included.empty() || room_of(included)) return "";
  const fs::path from_file = root / fs::path(file).parent_path() / included;
  const std::string own(room_of(file)->path);
  for (const fs::path& candidate : {from_file, root / own / included})
    if (included.find("..") == std::string_view::npos && fs::exists(candidate)) return "";
  return "a quoted include is relative to the tree's root";
}

// The path in an #include line, or "".
std::string_view included_path(std::string_view line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return "";
  line.remove_prefix(hash + 1);
  const size_t word = line.find_first_not_of(" \t");
  if (word == std::string_view::npos || line.substr(word, 7) != "include") return "";
  const size_t open = line.find_first_of("\"<");
  if (open == std::string_view::npos) return "";
  const size_t close = line.find_first_of("\">", open + 1);
  return close == std::string_view::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

TEST_CASE("no file includes against the arrows") {
  const fs::path root = LATHE_SOURCE_DIR;
  size_t files = 0;
  std::string violations;
  for (const char* top : {"runtime", "ir", "compiler", "schedules", "tools", "examples", "tests"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".inc") continue;
      ++files;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      std::string line;
      for (int number = 1; std::getline(in, line); ++number) {
        const std::string_view included = included_path(line);
        std::string why = why_forbidden(file, included);
        if (why.empty() && line.find('"') < line.find(included)) why = why_unseen(root, file, included);
        if (!why.empty())
          violations += file + ":" + std::to_string(number) + ": " + line + "\n    " + why + "\n";
      }
    }
  }
  CHECK(files > 20);
  CHECK(violations == "");
}

TEST_CASE("the arrow table refuses what it should") {
  CHECK(why_forbidden("ir/expr.h", "runtime/base/dtype.h") == "");
  CHECK(why_forbidden("ir/expr.h", "runtime/array.h") == "ir may not include runtime");
  CHECK(why_forbidden("runtime/base/x.h", "ir/expr.h") == "runtime/base may not include ir");
  CHECK(why_forbidden("runtime/array.h", "runtime/emulator/x.h") == "runtime may not include runtime/emulator");
  CHECK(why_forbidden("runtime/emulator/x.cpp", "runtime/array.h") == "runtime/emulator may not include runtime");
  CHECK(why_forbidden("runtime/emulator/x.cpp", "llvm/MC/MCInst.h") == "");
  CHECK(why_forbidden("compiler/build.cpp", "llvm/IR/Module.h") == "compiler may not include llvm");
  CHECK(why_forbidden("compiler/codegen/emit.cpp", "llvm/IR/Module.h") == "");
  CHECK(why_forbidden("compiler/build.cpp", "compiler/codegen/codegen.h") == "");
  CHECK(why_forbidden("compiler/build.cpp", "runtime/module.h") == "compiler may not include runtime");
  CHECK(why_forbidden("runtime/device.h", "hip/hip_runtime_api.h") ==
        "HIP's headers are included by runtime/hip_api.h alone");
  CHECK(why_forbidden("schedules/matmul.cpp", "isl/set.h") == "schedules may not include isl");
  CHECK(why_unseen(LATHE_SOURCE_DIR, "runtime/base/dtype.cpp", "dtype.h") == "");
  CHECK(why_unseen(LATHE_SOURCE_DIR, "runtime/base/dtype.cpp", "../array.h") ==
        "a quoted include is relative to the tree's root");
  CHECK(why_forbidden("tools/lathe.cpp", "compiler/build.h") == "");
  CHECK(included_path("  #  include <isl/set.h> // x") == "isl/set.h");
  CHECK(included_path("// #include <isl/set.h>") == "");
}
