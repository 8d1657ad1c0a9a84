# The ```cpp blocks of a manual as one program: each becomes a function, and main calls them all.
BEGIN {
  print "#include <fmt/format.h>\n#include <optional>\n#include \"compiler/build.h\"\n#include \"runtime/base/error.h\"\n"
}
/^```cpp$/ { ++n; inside = 1; printf "static void block_%d() {\n  using namespace lathe;\n#line %d \"%s\"\n", n, NR + 1, FILENAME; next }
/^```/ { if (inside) print "}"; inside = 0; next }
inside { print }
END {
  print "int main() {"
  for (i = 1; i <= n; ++i) printf "  block_%d();\n", i
  print "}"
}
