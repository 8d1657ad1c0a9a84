#include "runtime/base/target.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/error_message.h"

using namespace lathe;

TEST_CASE("target ids parse and print as they came") {
  for (const char* id : {"gfx900", "gfx90a:sramecc+:xnack-", "gfx90a:xnack+", "gfx942:sramecc-", "gfx1100",
                         "gfx9-4-generic", "gfx12-generic"})
    CHECK(parse_target(id).id() == id);
  CHECK(parse_target("gfx90a:xnack-:sramecc+").id() == "gfx90a:sramecc+:xnack-");
}

TEST_CASE("every row of the gfx table has its own name and ELF number") {
  std::set<std::string_view> names;
  std::set<uint8_t> machs;
  for (const GfxRow& row : gfx_table()) {
    CHECK(names.insert(row.name).second);
    CHECK(machs.insert(row.elf_mach).second);
    CHECK(find_gfx_by_mach(row.elf_mach) == find_gfx(row.name));
    if (!row.generic.empty() && row.name != "gfx1010" && row.name != "gfx1011" && row.name != "gfx1012")
      CHECK(find_gfx(row.generic) != nullptr);
  }
}

TEST_CASE("wrong target ids are refused with the nearest name or the features there are") {
  auto message = [](const char* id) { return error_message([&] { parse_target(id); }); };
  CHECK(message("gfx943").find("target \"gfx943\": unknown target \"gfx943\" (hint: did you mean gfx942?") == 0);
  CHECK(message("gfx90a:fast+") ==
        "target \"gfx90a:fast+\": \"fast+\" is not a target feature (hint: features are sramecc+, sramecc-, xnack+, "
        "xnack-, as in gfx90a:sramecc+:xnack-)");
  CHECK(message("gfx90a:xnack") .find("\"xnack\" is not a target feature") != std::string::npos);
  CHECK(message("gfx90a:") .find("\"\" is not a target feature") != std::string::npos);
  CHECK(message("gfx1100:xnack+") ==
        "target \"gfx1100:xnack+\": gfx1100 has no feature xnack (hint: leave out :xnack+)");
  CHECK(message("gfx90a:xnack+:xnack-") ==
        "target \"gfx90a:xnack+:xnack-\": feature xnack is given twice (hint: name each feature once)");
  CHECK(message("").find("unknown target \"\"") != std::string::npos);
}

TEST_CASE("which objects run on which devices (case R3)") {
  auto why = [](const char* object, const char* device) {
    return why_incompatible(parse_target(object), parse_target(device));
  };
  CHECK(why("gfx906", "gfx906:sramecc+:xnack-") == "");
  CHECK(why("gfx906", "gfx908") ==
        "code object for gfx906 on device gfx908: a gfx906 object does not run on gfx908");
  CHECK(why("gfx1032", "gfx1030") ==
        "code object for gfx1032 on device gfx1030: a gfx1032 object does not run on gfx1030");
  CHECK(why("gfx90a:xnack+", "gfx90a:sramecc+:xnack-") ==
        "code object for gfx90a:xnack+ on device gfx90a:sramecc+:xnack-: xnack settings differ");
  CHECK(why("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-") ==
        "code object for gfx90a:sramecc- on device gfx90a:sramecc+:xnack-: sramecc settings differ");
  CHECK(why("gfx11-generic", "gfx1102") == "");
  CHECK(why("gfx9-generic", "gfx906") == "");
  CHECK(why("gfx9-generic", "gfx90a") != "");
}

TEST_CASE("targets from ELF flags") {
  CHECK(target_from_elf_flags(0xd3f)->id() == "gfx90a:sramecc+");  // as llvm-readelf names the flags of that object
  CHECK(target_from_elf_flags(0xb4c)->id() == "gfx942:sramecc-:xnack+");
  CHECK(target_from_elf_flags(0x41)->id() == "gfx1100");
  CHECK(!target_from_elf_flags(0xff));
}
