// The package: what a build writes and the runtime loads. One FlatBuffers file (package.fbs) holds code objects
// for several targets and the functions that launch their kernels.
//
// A function call goes: bind the symbols from the arrays' shapes, check every other shape expression and every
// promise, allocate the workspaces, then run the launches in order on one stream.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/shape_expr.h"

namespace lathe {

// A tensor that the caller passes, in C order. A shape expression that is a lone symbol binds that symbol (its
// first appearance does; later ones must agree); all others are checked against the array.
struct ArgumentData {
  std::string name;
  DType type;
  std::vector<ShapeExpr> shape;
  bool is_output = false;
  bool operator==(const ArgumentData&) const = default;
};

// Scratch memory that lives for one call. Its contents are undefined at the first launch.
struct WorkspaceData {
  std::string name;
  DType type;
  std::vector<ShapeExpr> shape;  // elements
  bool operator==(const WorkspaceData&) const = default;
};

enum class KernelArgumentKind : uint8_t {
  argument = 0,    // the device pointer of arguments[index]
  workspace = 1,   // the device pointer of workspaces[index]
  expression = 2,  // the value of `expression` as an integer of `type`; a value that does not fit is refused
};

// One parameter of a kernel, in the kernel's order. HIP lays them out by natural alignment.
struct KernelArgument {
  KernelArgumentKind kind = KernelArgumentKind::argument;
  uint32_t index = 0;    // of an argument or a workspace
  ShapeExpr expression;  // of an expression, else empty
  DType type = i64;      // element type behind a pointer; integer type (i8 … u64) of an expression
  bool operator==(const KernelArgument&) const = default;
};

struct LaunchData {
  std::string kernel;                   // its name in every code object of the package
  std::array<ShapeExpr, 3> grid;        // work-groups along x, y, z; any zero skips the launch
  std::array<uint32_t, 3> block{1, 1, 1};  // threads along x, y, z
  uint32_t dynamic_lds_bytes = 0;       // on top of what the kernel declares itself
  std::vector<KernelArgument> arguments;
  ShapeExpr condition;                  // empty: always; else the launch runs where it is not 0
  bool operator==(const LaunchData&) const = default;
};

// What the caller promised when the function was compiled; checked at every call.
struct PromiseData {
  ShapeExpr condition;  // not 0: kept
  std::string text;     // as the user stated it: "n is a multiple of 4"
  bool operator==(const PromiseData&) const = default;
};

struct FunctionData {
  std::string name;
  std::vector<std::string> symbols;  // each is bound by a lone-symbol extent of some argument
  std::vector<ArgumentData> arguments;
  std::vector<WorkspaceData> workspaces;
  std::vector<LaunchData> launches;
  std::vector<PromiseData> promises;
  bool operator==(const FunctionData&) const = default;
};

struct CodeObjectData {
  std::string target;  // a target id: "gfx942:xnack-", "gfx11-generic"
  std::vector<uint8_t> bytes;
  bool operator==(const CodeObjectData&) const = default;
};

// Text that travels along for people and tools: a schedule trace, the IR.
struct SourceData {
  std::string name, text;
  bool operator==(const SourceData&) const = default;
};

// What the compiler proved of a function's kernels, and what it could not.
enum class Verdict : uint8_t {
  proved = 0,
  disproved = 1,  // there is a counterexample; no package holds such a function
  undecided = 2,  // it depends on data, or was too hard
};
std::string_view to_string(Verdict v);

struct Claim {
  Verdict verdict = Verdict::undecided;
  std::string kind;  // "bounds", "written once", "order", "barriers", "limits", "indices"
  std::string what;  // one sentence on a kernel or tensor, with the counterexample or what was too hard
  bool operator==(const Claim&) const = default;
};
std::string to_string(const Claim& claim);  // in one line

struct CertificateData {
  std::string function, target;  // of this package
  std::vector<Claim> claims;
  bool operator==(const CertificateData&) const = default;
};

struct PackageData {
  std::vector<FunctionData> functions;       // names are unique
  std::vector<CodeObjectData> code_objects;  // targets are unique
  std::vector<SourceData> sources;           // in the order given
  std::string generator;                     // what wrote it: "lathe 0.1.0"
  std::vector<CertificateData> certificates;  // at most one of a function for a target
  bool operator==(const PackageData&) const = default;
};

// Raised when an older runtime could misread the file. A runtime reads its own version only.
inline constexpr uint32_t package_format_version = 1;

// The file's bytes; the same package gives the same bytes on every machine. Throws Error on contents that a
// reader would refuse (an index out of range, a malformed expression, a symbol that nothing binds, two functions
// of one name, over 2 GiB), naming the function.
std::vector<uint8_t> write_package(const PackageData& package);

// The inverse. `where` names the bytes in messages (a path). Throws Error with the reason: not a package, cut
// short, altered (checksum), a newer or unknown format version, contents that make no sense.
PackageData read_package(std::span<const uint8_t> bytes, std::string_view where);

// Empty: the contents make sense; else the first thing that does not, with its place. Both sides call it.
std::string why_invalid(const PackageData& package);

}  // namespace lathe
