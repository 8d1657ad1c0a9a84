#include "tests/compiler/harness.h"

#include <catch2/catch.hpp>

namespace lathe::test {

Arrays agree(const Program& program, const Symbols&, const Arrays& arrays) {
  CHECK(disagreement(program, arrays, gpus) == "");
  return by_evaluator(program, arrays);
}

Arrays agree(std::string_view text, const Symbols& symbols, Values values) {
  const Program program = parse_program(text, "test.te");
  INFO(text);
  return agree(program, symbols, random_arrays(program, symbols, 1, values));
}

}  // namespace lathe::test
