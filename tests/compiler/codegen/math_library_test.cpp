// A missing math library. In an executable of its own: the library is read once per process.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "kernels.h"
#include "tests/error_message.h"

namespace lathe::test {

TEST_CASE("a missing math library is named, with its package; kernels without functions do not need it") {
  setenv("LATHE_DEVICE_LIBS", "/nowhere", 1);
  const Kernel kernel = elementwise({"e", {f32}, f32, [](const std::vector<Expr>& x) { return exp(x[0]); }});
  CHECK(error_message([&] { compile_kernels({kernel}, parse_target("gfx942"), "m"); }) ==
        "m: the device math library /nowhere/ocml.bc cannot be read: No such file or directory (hint: install the "
        "Debian package rocm-device-libs, or set LATHE_DEVICE_LIBS to the directory of ocml.bc)");
  CHECK(error_message([&] { compile_kernels({vector_add()}, parse_target("gfx942"), "m"); }) == "");
}

}  // namespace lathe::test
