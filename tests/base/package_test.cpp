#include "runtime/base/package.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/error_message.h"

using namespace lathe;

static ShapeExpr op(ShapeOp o, ShapeExpr a, ShapeExpr b) { return ShapeExpr::apply(o, {a, b}); }

// One of everything.
static PackageData sample() {
  const ShapeExpr n = ShapeExpr::symbol(0), m = ShapeExpr::symbol(1), one = ShapeExpr::constant(1);
  FunctionData f;
  f.name = "row_sums";
  f.symbols = {"n", "m"};
  f.arguments = {{"x", f16, {n, m}, false}, {"y", f32, {n, one}, true}};
  f.workspaces = {{"partial", f32, {op(ShapeOp::mul, n, ShapeExpr::constant(4))}}};
  LaunchData launch;
  launch.kernel = "row_sums_0";
  launch.grid = {op(ShapeOp::floor_div, op(ShapeOp::add, n, ShapeExpr::constant(63)), ShapeExpr::constant(64)), one, one};
  launch.block = {64, 2, 1};
  launch.dynamic_lds_bytes = 512;
  launch.arguments = {{KernelArgumentKind::argument, 0, {}, f16},
                      {KernelArgumentKind::workspace, 0, {}, f32},
                      {KernelArgumentKind::expression, 0, m, i32}};
  launch.condition = op(ShapeOp::gt, m, ShapeExpr::constant(0));
  LaunchData second = launch;
  second.kernel = "row_sums_1";
  second.condition = {};
  f.launches = {launch, second};
  f.promises = {{op(ShapeOp::eq, op(ShapeOp::floor_mod, m, ShapeExpr::constant(4)), ShapeExpr::constant(0)),
                 "m is a multiple of 4"}};
  FunctionData empty;
  empty.name = "nothing";
  std::vector<uint8_t> object(300);
  for (size_t i = 0; i < object.size(); ++i) object[i] = static_cast<uint8_t>(i * 7);
  return {{f, empty}, {{"gfx942", object}, {"gfx11-generic", {1, 2, 3}}}, {{"schedule", "split i by 64"}}, "lathe test",
          {{"row_sums", "gfx942", {{Verdict::proved, "bounds", "all inside"}, {Verdict::undecided, "order", "too many cases"}}}}};
}

TEST_CASE("a package reads back as it was written, the same bytes every time") {
  const PackageData package = sample();
  const std::vector<uint8_t> bytes = write_package(package);
  CHECK(read_package(bytes, "p") == package);
  CHECK(write_package(sample()) == bytes);
  CHECK(write_package(read_package(bytes, "p")) == bytes);
  CHECK(read_package(write_package({}), "p") == PackageData{});
}

TEST_CASE("a package may lie anywhere in memory") {
  const std::vector<uint8_t> bytes = write_package(sample());
  std::vector<uint8_t> shifted(bytes.size() + 16);
  for (size_t offset = 0; offset < 16; ++offset) {
    std::memcpy(shifted.data() + offset, bytes.data(), bytes.size());
    CHECK(read_package({shifted.data() + offset, bytes.size()}, "p") == sample());
  }
}

TEST_CASE("a package that is cut short is refused with both sizes (case R4)") {
  const std::vector<uint8_t> bytes = write_package(sample());
  const std::string total = std::to_string(bytes.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A heap copy of exactly this size, so that the address sanitizer sees a read past its end.
    const std::vector<uint8_t> prefix(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const std::string expected = size < 12 ? "file.lathe: cut short: " + std::to_string(size) + " bytes are too few for a package"
                                           : "file.lathe: cut short: " + std::to_string(size) + " of " + total + " bytes";
    REQUIRE(error_message([&] { read_package(prefix, "file.lathe"); }) == expected);
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  CHECK(error_message([&] { read_package(longer, "file.lathe"); }) == "file.lathe: altered: 1 bytes follow the package's end");
}

TEST_CASE("an altered byte anywhere gives an error or the identical package (case R4)") {
  const PackageData package = sample();
  const std::vector<uint8_t> bytes = write_package(package);
  int identical = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::vector<uint8_t> altered = bytes;
      altered[i] ^= static_cast<uint8_t>(flip);
      try {
        const PackageData read = read_package(altered, "p");
        REQUIRE(read == package);
        ++identical;
      } catch (const Error& error) {
        REQUIRE(error.where() == "p");
      }
    }
  CHECK(identical <= 3 * 32);  // padding around the root table, nothing else
  std::vector<uint8_t> altered = bytes;
  altered[bytes.size() / 2] ^= 0x20;
  CHECK(error_message([&] { read_package(altered, "p"); }) == "p: altered: the checksum does not match its contents");
}

TEST_CASE("random bytes behind a valid prefix never crash the reader") {
  const std::vector<uint8_t> bytes = write_package(sample());
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> altered = bytes;
    for (int i = 0; i < 8; ++i) altered[12 + random() % 52] = static_cast<uint8_t>(random());
    try {
      const PackageData read = read_package(altered, "p");
      CHECK(read == sample());
    } catch (const Error& error) {
      CHECK(error.where() == "p");
    }
  }
}

TEST_CASE("a package from a newer format version is refused by number (case R4)") {
  std::vector<uint8_t> bytes = write_package(sample());
  // The version is the only 32-bit 1 among the root table's fields: find it before the payload.
  for (size_t at = 12; at < 64; at += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[at], 4);
    if (word != package_format_version) continue;
    std::vector<uint8_t> newer = bytes;
    newer[at] = 9;
    CHECK(error_message([&] { read_package(newer, "p"); }) ==
          "p: format version 9, this runtime reads version 1 (hint: use a newer runtime, or build the package again)");
    newer[at] = 0;
    CHECK(error_message([&] { read_package(newer, "p"); }) == "p: altered: format version 0 never existed");
    return;
  }
  FAIL("no format version in the root table");
}

TEST_CASE("other files are told from packages") {
  const std::string text = "#!/bin/sh\nexit 0\n";
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  CHECK(error_message([&] { read_package(bytes, "run.sh"); }) ==
        "run.sh: not a Lathe package: the identifier LTHE is missing");
}

TEST_CASE("contents that make no sense are refused before they are written, with their place") {
  struct Row {
    const char* why;
    void (*damage)(PackageData&);
  };
  const Row rows[] = {
      {"two functions named \"row_sums\"", [](PackageData& p) { p.functions[1].name = "row_sums"; }},
      {"two code objects for gfx942", [](PackageData& p) { p.code_objects[1].target = "gfx942"; }},
      {"code object: target \"gfx9999\": unknown target \"gfx9999\" (hint: did you mean gfx909? `lathe targets` lists all)",
       [](PackageData& p) { p.code_objects[1].target = "gfx9999"; }},
      {"function \"row_sums\": symbol \"k\" is the extent of no argument, so no call can bind it",
       [](PackageData& p) { p.functions[0].symbols.push_back("k"); }},
      {"function \"row_sums\": argument \"x\" extent 1: malformed expression, step 0: symbol 5 of 2",
       [](PackageData& p) { p.functions[0].arguments[0].shape[1] = ShapeExpr::symbol(5); }},
      {"function \"row_sums\": workspace \"partial\" extent 0: malformed expression, 0 results instead of one",
       [](PackageData& p) { p.functions[0].workspaces[0].shape[0] = {}; }},
      {"function \"row_sums\": launch of \"row_sums_0\" parameter 0: argument 2 of 2",
       [](PackageData& p) { p.functions[0].launches[0].arguments[0].index = 2; }},
      {"function \"row_sums\": launch of \"row_sums_0\" parameter 1: workspace 1 of 1",
       [](PackageData& p) { p.functions[0].launches[0].arguments[1].index = 1; }},
      {"function \"row_sums\": launch of \"row_sums_0\" parameter 2: an expression is passed as an integer, not as f32",
       [](PackageData& p) { p.functions[0].launches[0].arguments[2].type = f32; }},
      {"function \"row_sums\": launch of \"row_sums_0\" parameter 0: unknown kind 9",
       [](PackageData& p) { p.functions[0].launches[0].arguments[0].kind = static_cast<KernelArgumentKind>(9); }},
      {"function \"row_sums\": launch of \"row_sums_0\": block.y is 0, from 1 to 1024 is possible",
       [](PackageData& p) { p.functions[0].launches[0].block[1] = 0; }},
      {"function \"row_sums\": launch of \"row_sums_0\": 2048 threads in a group, the limit is 1024",
       [](PackageData& p) { p.functions[0].launches[0].block = {1024, 2, 1}; }},
      {"function \"row_sums\": launch of \"row_sums_0\" grid.z: malformed expression, 0 results instead of one",
       [](PackageData& p) { p.functions[0].launches[0].grid[2] = {}; }},
      {"function \"row_sums\": promise \"m is a multiple of 4\": malformed expression, 0 results instead of one",
       [](PackageData& p) { p.functions[0].promises[0].condition = {}; }},
      {"two certificates of function \"row_sums\" for gfx942", [](PackageData& p) { p.certificates.push_back(p.certificates[0]); }},
      {"certificate: of function \"sums\", which the package does not have", [](PackageData& p) { p.certificates[0].function = "sums"; }},
      {"certificate: for \"gfx906\", for which the package has no code object", [](PackageData& p) { p.certificates[0].target = "gfx906"; }},
      {"certificate: unknown verdict 7", [](PackageData& p) { p.certificates[0].claims[1].verdict = static_cast<Verdict>(7); }},
      {"certificate: function \"row_sums\" is proved wrong: too many cases",
       [](PackageData& p) { p.certificates[0].claims[1].verdict = Verdict::disproved; }},
      {"function \"row_sums\": a launch without a kernel's name", [](PackageData& p) { p.functions[0].launches[0].kernel = ""; }},
  };
  for (const Row& row : rows) {
    PackageData package = sample();
    row.damage(package);
    CHECK(error_message([&] { write_package(package); }) == std::string("package: ") + row.why);
  }
}
