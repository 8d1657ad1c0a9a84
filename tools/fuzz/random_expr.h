// Random typed expressions as text, over the loops in scope and the tensors there are to read. Every index stays inside
// its tensor, and of every value it is known whether it is whole and how large it gets: sums are made exact by that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "tools/fuzz/values.h"
#include "tools/fuzz/voices.h"

namespace lathe::fuzz {

struct Extent {
  std::string text;  // a number, a symbol, or an expression of symbols
  int64_t value = 0;
  bool is_number() const { return text.find_first_not_of("0123456789") == std::string::npos; }
};

struct Loop {
  std::string name;
  Extent extent;
};

struct Source {  // a tensor that can be read
  std::string name;
  DType type;
  std::vector<Extent> shape;
  double bound = 4;     // no finite element is larger
  bool whole = true;    // all finite elements are whole numbers
  bool is_input = true;
  int reads = 0;
};

struct Value {
  std::string text;
  double bound = 0;
  bool whole = true;
};

class ExprWriter {
 public:
  ExprWriter(Dice& dice, Values values) : dice_(dice), values_(values) {}

  // What the program is made of, in the order it came up.
  std::vector<Source> sources;
  std::vector<DType> types;  // those that expressions use, the first one most
  std::vector<Loop> loops;   // in scope

  Value expr(DType type, int depth);
  Value read(DType type, int depth);              // an element of a tensor, cast where it has another type
  Value element(Source& source, int depth);       // at indices made of the loops in scope
  std::optional<std::string> index(const Extent& extent, int depth);  // inside 0 .. extent - 1; none where it is empty
  Source& input(DType type, std::vector<Extent> shape);
  DType some_type() { return dice_.one_in(4) ? dice_.of(types) : types[0]; }

  Value cast(const Value& v, DType from, DType to) const;
  // `v`, brought to whole numbers of at most `most` where it is not already: an exact term of a sum.
  Value tamed(const Value& v, DType type, double most) const;
  std::string number(DType type, double value) const;

 private:
  Value of_float(DType type, int depth);
  Value of_integer(DType type, int depth);
  Value of_bool(int depth);
  Value leaf(DType type, int depth);
  std::string new_input_index(std::vector<Extent>& shape, const Loop& loop);

  Dice& dice_;
  Values values_;
};

// The largest integer below which every whole number is exact in a sum of `type`.
double exact_limit(DType type);
std::string in_parentheses(const std::string& extent);

}  // namespace lathe::fuzz
