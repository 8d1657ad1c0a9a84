// The examples of ir/README.md are what they claim to be.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "ir/equal.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "tests/ir/arrays.h"

using namespace lathe;

// The `n`-th fenced block that opens with ```language.
static std::string block(const std::string& language, int n) {
  std::ifstream file(LATHE_SOURCE_DIR "/ir/README.md");
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str(), fence = "```" + language + "\n";
  size_t begin = 0;
  for (int i = 0; i <= n; ++i) {
    begin = text.find(fence, begin);
    REQUIRE(begin != std::string::npos);
    begin += fence.size();
  }
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_CASE("the .te file in the README parses verbatim and prints as it stands") {
  const std::string text = block("te", 0);
  const Program p = parse_program(text, "README.md");
  CHECK(to_string(p) == text);
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1}, c(4), y(2);
  std::vector<int64_t> i(2);
  evaluate(p, std::vector<BufferView>{view(a, {2, 3}), view(b, {3, 2}), view(c, {2, 2}), view(i, {2}), view(y, {2})});
  CHECK(c == std::vector<float>{4, 5, 10, 11});
  CHECK(i == std::vector<int64_t>{1, 1});
  CHECK(y == std::vector<float>{5, 11});
}

TEST_CASE("the lowered function in the README parses verbatim, prints as it stands and runs") {
  const std::string text = block("te", 1);
  const LoweredFunction f = parse_function(text, "README.md");
  CHECK(to_string(f) == text);
  std::vector<float> a(100, 2), b(100);
  evaluate(f, std::vector<BufferView>{view(a), view(b)});
  CHECK(b == std::vector<float>(100, 4));
}
