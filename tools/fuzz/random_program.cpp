#include "tools/fuzz/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/fuzz/random_expr.h"

namespace lathe::fuzz {
namespace {

constexpr int64_t most_elements = 700, most_terms = 60;  // of a stage, of one reduction

class Writer {
 public:
  explicit Writer(Dice& dice) : dice_(dice), values_(choose_values()), write_(dice, values_) {}

  RandomProgram run() {
    write_.types = {main_type()};
    while (write_.types.size() < 3 && dice_.one_in(2)) write_.types.push_back(any_type());
    for (int64_t stages = dice_.of<int64_t>({1, 1, 1, 1, 2, 2, 2, 3}); stages > 0; --stages) stage();
    return {text(), symbols_, values_};
  }

 private:
  Values choose_values() { return dice_.of<Values>({Values::whole, Values::whole, Values::fractions, Values::special}); }

  DType any_type() { return dtype_rows[dice_.below(std::size(dtype_rows))].type; }
  DType main_type() { return dice_.one_in(2) ? any_type() : dice_.of<DType>({f32, f32, f16, i32}); }

  // ---- extents
  Extent number(int64_t value) const { return {std::to_string(value), value}; }

  Extent symbol() {
    static const std::vector<std::string> names = {"m", "n", "q"};
    const std::string name = names[static_cast<size_t>(dice_.below(static_cast<int64_t>(std::min(symbols_.size() + 1, names.size()))))];
    const int64_t value = dice_.one_in(30) ? 0 : dice_.of<int64_t>({1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33});
    return {name, symbols_.emplace(name, value).first->second};
  }

  Extent extent() {
    if (!write_.sources.empty() && dice_.one_in(3)) {  // one that is in use
      const Source& s = dice_.of(write_.sources);
      if (!s.shape.empty()) return dice_.of(s.shape);
    }
    if (!dice_.one_in(3)) return number(dice_.one_in(60) ? 0 : dice_.of<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 20, 33}));
    const Extent s = symbol();
    switch (dice_.below(10)) {
      case 0: return {fmt::format("{} * 2", s.text), s.value * 2};
      case 1: return {fmt::format("({} + 3) / 4", s.text), (s.value + 3) / 4};
      case 2: return {fmt::format("{} + 1", s.text), s.value + 1};
      case 3: {
        const Extent t = symbol();
        if (s.value * t.value > 100) return s;
        return {fmt::format("{} * {}", s.text, t.text), s.value * t.value};
      }
      case 4:
        if (s.value > 0) return {fmt::format("{} - 1", s.text), s.value - 1};
        return s;
      default: return s;
    }
  }

  static int64_t size_of(const std::vector<Loop>& loops) {
    int64_t size = 1;
    for (const Loop& l : loops) size *= std::max<int64_t>(l.extent.value, 1);
    return size;
  }

  // `count` loops of names that begin at `first`, of at most `most` iterations together.
  std::vector<Loop> some_loops(char first, int64_t count, int64_t most) {
    std::vector<Loop> result;
    for (int64_t i = 0; i < count; ++i) {
      Extent e = extent();
      if (size_of(result) * std::max<int64_t>(e.value, 1) > most) e = number(dice_.between(1, 2));
      result.push_back({std::string(1, static_cast<char>(first + i)), e});
    }
    return result;
  }

  static std::string axes(const std::vector<Loop>& loops) {
    std::string text;
    for (const Loop& l : loops) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", l.name, l.extent.text);
    return text;
  }

  static std::vector<Extent> shape(const std::vector<Loop>& loops) {
    std::vector<Extent> result;
    for (const Loop& l : loops) result.push_back(l.extent);
    return result;
  }

  // ---- stages
  void define(const std::vector<Loop>& loops, DType type, const Value& v, const std::string& text) {
    const std::string name = fmt::format("{}{}", dice_.of<std::string>({"P", "Q", "S", "T"}), ++stages_);
    body_ += fmt::format("{}[{}] = {}\n", name, axes(loops), text);
    write_.sources.push_back({name, type, shape(loops), v.bound, v.whole, false});
  }

  void define_pair(const std::vector<Loop>& loops, DType first, const Value& a, DType second, const Value& b) {
    const int n = ++stages_;
    const std::string x = fmt::format("U{}", n), y = fmt::format("V{}", n);
    body_ += fmt::format("({}, {})[{}] = ({}, {})\n", x, y, axes(loops), a.text, b.text);
    write_.sources.push_back({x, first, shape(loops), a.bound, a.whole, false});
    write_.sources.push_back({y, second, shape(loops), b.bound, b.whole, false});
  }

  void stage() {
    const std::vector<Loop> data = some_loops('i', dice_.of<int64_t>({1, 1, 2, 2, 2, 3, 4}), most_elements);
    write_.loops = data;
    switch (dice_.below(16)) {
      case 0: case 1: case 2: case 3: return map(data);
      case 4: case 5: case 6: return reduction(data);
      case 7: return position(data);
      case 8: return combined(data);
      case 9: return tuple(data);
      case 10: case 11: return product_of_matrices();
      case 12: return padded_stencil();
      case 13: return convolution();
      default: return window();
    }
  }

  void map(const std::vector<Loop>& data) {
    const DType type = write_.some_type();
    const Value v = write_.expr(type, dice_.of<int>({1, 1, 2, 2, 3}));
    define(data, type, v, v.text);
  }

  void tuple(const std::vector<Loop>& data) {
    const DType first = write_.some_type(), second = write_.some_type();
    const Value a = write_.expr(first, 1), b = write_.expr(second, 1);
    define_pair(data, first, a, second, b);
  }

  // What follows a reduction in its stage.
  Value finished(const Value& v, DType type) {
    if (dice_.one_in(2)) return v;
    const Value other = write_.read(type, 0);
    if (type.is_bool()) return {fmt::format("{} != {}", v.text, other.text), 1, true};
    const std::string text = dice_.one_in(3) ? fmt::format("max({}, {})", v.text, other.text) : fmt::format("{} + {}", v.text, other.text);
    return {text, v.bound + other.bound, v.whole && other.whole};
  }

  // A term of a sum over `terms` of them that no order of summation rounds.
  Value term(DType type, int64_t terms) {
    const double limit = exact_limit(type) / static_cast<double>(std::max<int64_t>(terms, 1));
    if (dice_.one_in(3)) {
      const Value a = write_.tamed(write_.read(type, 0), type, 16), b = write_.tamed(write_.read(type, 0), type, 16);
      return {fmt::format("{} * {}", a.text, b.text), a.bound * b.bound, true};
    }
    return write_.tamed(write_.expr(type, 1), type, limit);
  }

  // A built-in reduction of `type` over `over`.
  Value reduced(DType type, const std::vector<Loop>& over) {
    const int64_t terms = size_of(over);
    const std::string head = fmt::format("[{}]", axes(over));
    if (type.is_bool()) return {fmt::format("{}{}({})", dice_.of<std::string>({"any", "all"}), head, write_.expr(type, 2).text), 1, true};
    const std::string op = dice_.of<std::string>({"sum", "sum", "sum", "product", "min", "max"});
    if (op == "sum") {
      const Value v = term(type, terms);
      return {fmt::format("sum{}({})", head, v.text), v.bound * static_cast<double>(terms), v.whole};
    }
    if (op == "product") {  // of powers of two
      const Value v = write_.tamed(write_.expr(type, 1), type, 2);
      const std::string clamped = type.is_float() ? fmt::format("max(min({}, {}), {})", v.text, write_.number(type, 2), write_.number(type, -2)) : v.text;
      return {fmt::format("product{}({})", head, clamped), std::ldexp(1.0, 1000), true};
    }
    const Value v = write_.expr(type, 2);
    return {fmt::format("{}{}({})", op, head, v.text), v.bound, v.whole};
  }

  void reduction(const std::vector<Loop>& data) {
    const std::vector<Loop> over = some_loops('r', dice_.between(1, 2), std::min(most_terms, std::max<int64_t>(8000 / size_of(data), 2)));
    const DType type = write_.some_type();
    write_.loops.insert(write_.loops.end(), over.begin(), over.end());
    const Value v = reduced(type, over);
    write_.loops = data;
    const Value all = finished(v, type);
    define(data, type, all, all.text);
  }

  void position(const std::vector<Loop>& data) {
    const std::vector<Loop> over = some_loops('r', dice_.between(1, 2), 40);
    DType type = write_.some_type();
    if (type.is_bool()) type = i32;
    write_.loops.insert(write_.loops.end(), over.begin(), over.end());
    const Value v = write_.expr(type, 1);
    write_.loops = data;
    const std::string place = over.size() == 1 ? over[0].name : fmt::format("{} * {} + {}", over[0].name, in_parentheses(over[1].extent.text), over[1].name);
    const std::string r = fmt::format("{}[{}]({}, {})", dice_.of<std::string>({"argmin", "argmax"}), axes(over), place, v.text);
    // An empty reduction gives the largest index.
    const Value index{r, std::ldexp(1.0, 63), true}, value{r + ".1", v.bound, v.whole};
    if (dice_.one_in(3)) return define(data, i64, index, index.text);
    define_pair(data, i64, index, type, value);
  }

  // Users' combiners whose result no order changes.
  void combined(const std::vector<Loop>& data) {
    const std::vector<Loop> over = some_loops('r', dice_.between(1, 2), 40);
    DType type = write_.some_type();
    if (type.is_bool() || (type.is_float() && type.bits < 32)) type = f32;
    write_.loops.insert(write_.loops.end(), over.begin(), over.end());
    const std::string t = to_string(type), name = fmt::format("merge{}", stages_ + 1), head = fmt::format("{}[{}]", name, axes(over));
    const bool bits = !type.is_float() && dice_.one_in(2);
    const Value a = write_.tamed(write_.expr(type, 1), type, 64), b = write_.tamed(write_.read(type, 0), type, 64);
    write_.loops = data;
    if (bits) {
      const std::string op = dice_.of<std::string>({"^", "&", "|"});
      const std::string identity = op == "&" ? (type.is_signed() ? write_.number(type, -1) : fmt::format("{}({})", t, ~uint64_t{0} >> (64 - type.bits))) : write_.number(type, 0);
      body_ += fmt::format("combiner {}(a: {}), (b: {}) = (a {} b) identity ({})\n", name, t, t, op, identity);
      const Value v{fmt::format("{}({})", head, a.text), std::ldexp(1.0, type.bits), true};
      return define(data, type, v, v.text);
    }
    const bool spread = dice_.one_in(2);
    const int64_t terms = size_of(over);
    if (spread)  // a sum and a largest one
      body_ += fmt::format("combiner {0}(a: {1}, x: {1}), (b: {1}, y: {1}) = (a + b, max(x, y)) identity ({2}, {2})\n", name, t, write_.number(type, 0));
    else  // how often the largest one comes up
      body_ += fmt::format("combiner {0}(a: i64, x: {1}), (b: i64, y: {1}) = (select(x > y, a, select(y > x, b, a + b)), max(x, y)) identity (0, {2})\n",
                           name, t, type.is_float() ? t + "(-inf)" : write_.number(type, type.is_signed() ? -100 : 0));
    // NaN is neither larger nor equal, which makes the count hang on the order.
    const std::string second = spread ? b.text : type.is_float() ? fmt::format("fmax({}, {})", b.text, write_.number(type, -50)) : b.text;
    const std::string r = fmt::format("{}({}, {})", head, spread ? a.text : "1", second);
    const Value sum{r, spread ? a.bound * static_cast<double>(terms) : static_cast<double>(terms), true}, most{r + ".1", b.bound + 50, b.whole};
    define_pair(data, spread ? type : i64, sum, type, most);
  }

  void product_of_matrices() {
    const DType type = write_.some_type().is_bool() ? f32 : write_.some_type();
    const DType used = type.is_bool() ? f32 : type;
    std::vector<Loop> data = some_loops('i', dice_.between(2, 3), 400);  // the first of three is the batch
    const bool batched = data.size() == 3;
    const std::vector<Loop> over = some_loops('r', 1, 20);
    const Extent i = data[data.size() - 2].extent, j = data.back().extent, k = over[0].extent;
    const std::string at_i = data[data.size() - 2].name, at_j = data.back().name, at_k = over[0].name;
    std::vector<Extent> left = {i, k}, right = dice_.one_in(2) ? std::vector<Extent>{k, j} : std::vector<Extent>{j, k};
    const bool transposed = right[0].text == j.text && !(right[0].text == k.text && right[1].text == j.text);
    std::string a = fmt::format("{}, {}", at_i, at_k), b = transposed ? fmt::format("{}, {}", at_j, at_k) : fmt::format("{}, {}", at_k, at_j);
    if (batched) {
      const bool shared = dice_.one_in(3);
      left.insert(left.begin(), data[0].extent);
      a = data[0].name + ", " + a;
      if (!shared) right.insert(right.begin(), data[0].extent), b = data[0].name + ", " + b;
    }
    const Source x = write_.input(used, left), y = write_.input(used, right);
    const Value p = write_.tamed({fmt::format("{}[{}]", x.name, a), x.bound, x.whole}, used, 16);
    const Value q = write_.tamed({fmt::format("{}[{}]", y.name, b), y.bound, y.whole}, used, 16);
    write_.loops = data;
    const Value sum{fmt::format("sum[{}]({} * {})", axes(over), p.text, q.text), p.bound * q.bound * static_cast<double>(k.value), true};
    const Value all = finished(sum, used);
    define(data, used, all, all.text);
  }

  // A tensor of two or more dimensions, an earlier stage where there is one.
  Source plane() {
    std::vector<Source> fitting;
    for (const Source& s : write_.sources)
      if (s.shape.size() == 2 && !s.type.is_bool()) fitting.push_back(s);
    if (!fitting.empty() && !dice_.one_in(3)) return dice_.of(fitting);
    const DType type = write_.some_type();
    Extent h = extent(), w = extent();
    if (h.value * w.value > most_elements) h = number(4);
    return write_.input(type.is_bool() ? f32 : type, {h, w});
  }

  void used(const Source& source) {
    for (Source& s : write_.sources)
      if (s.name == source.name) ++s.reads;
  }

  // The same size as what it reads: beyond the edge there is a 0.
  void padded_stencil() {
    const Source s = plane();
    used(s);
    const Extent h = s.shape[0], w = s.shape[1];
    const int64_t p = dice_.between(1, 3), q = dice_.between(1, 3), up = dice_.below(p), left = dice_.below(q);
    const Value v = write_.tamed({fmt::format("{}[i + r - {}, j + s - {}]", s.name, up, left), s.bound, s.whole}, s.type, exact_limit(s.type) / 9);
    define({{"i", h}, {"j", w}}, s.type, {"", v.bound * static_cast<double>(p * q), true},
           fmt::format("sum[r: {}, s: {}](select(i + r >= {} && i + r < {} + {} && j + s >= {} && j + s < {} + {}, {}, {}))", p, q, up, h.text, up, left,
                       w.text, left, v.text, write_.number(s.type, 0)));
  }

  // Output sizes follow from input sizes: (h + 2 * pad - dilated kernel) / stride + 1.
  void convolution() {
    const Source s = plane();
    const Extent h = s.shape[0], w = s.shape[1];
    const int64_t kernel = dice_.between(1, 3), stride = dice_.between(1, 2), pad = dice_.between(0, 1), dilation = dice_.between(1, 2);
    const int64_t reach = dilation * (kernel - 1) + 1;
    if (h.value + 2 * pad < reach || w.value + 2 * pad < reach) return map(write_.loops);
    used(s);
    auto out = [&](const Extent& e) {
      const int64_t value = (e.value + 2 * pad - reach) / stride + 1, more = 2 * pad - reach;
      if (e.is_number()) return number(value);
      return Extent{fmt::format("({} {} {}) / {} + 1", e.text, more < 0 ? "-" : "+", std::abs(more), stride), value};
    };
    const Extent filters = number(dice_.between(1, 3));
    const Source weights = write_.input(s.type, {filters, number(kernel), number(kernel)});
    const std::string y = fmt::format("i * {} + r * {} - {}", stride, dilation, pad), x = fmt::format("j * {} + s * {} - {}", stride, dilation, pad);
    const Value v = write_.tamed({fmt::format("{}[{}, {}]", s.name, y, x), s.bound, s.whole}, s.type, 64);
    const Value f = write_.tamed({fmt::format("{}[f, r, s]", weights.name), weights.bound, weights.whole}, s.type, 64);
    const std::string inside = pad == 0 ? v.text : fmt::format("select({0} >= 0 && {0} < {1} && {2} >= 0 && {2} < {3}, {4}, {5})", y, h.text, x, w.text, v.text, write_.number(s.type, 0));
    define({{"f", filters}, {"i", out(h)}, {"j", out(w)}}, s.type, {"", v.bound * f.bound * static_cast<double>(kernel * kernel), true},
           fmt::format("sum[r: {}, s: {}]({} * {})", kernel, kernel, inside, f.text));
  }

  // A stage that is read through a moving window.
  void window() {
    const DType type = write_.some_type();
    const Extent h = extent(), w = number(dice_.between(1, 9));
    if (h.value > 40) return map(write_.loops);
    const int64_t p = dice_.between(1, 3), q = dice_.between(1, 3), stride = dice_.between(1, 2);
    auto grown = [&](const Extent& e, int64_t more) {
      const int64_t value = e.value * stride + more;
      if (e.is_number()) return number(value);
      return Extent{stride == 1 ? fmt::format("{} + {}", e.text, more) : fmt::format("{} * {} + {}", in_parentheses(e.text), stride, more), value};
    };
    const std::vector<Loop> wide = {{"i", grown(h, p)}, {"j", grown(w, q)}};
    write_.loops = wide;
    const Value v = write_.expr(type, 1);
    define(wide, type, v, v.text);
    Source& source = write_.sources.back();
    ++source.reads;
    const std::string read = fmt::format("{}[i * {} + r, j * {} + s]", source.name, stride, stride), head = fmt::format("[r: {}, s: {}]", p, q);
    const std::vector<Loop> data = {{"i", h}, {"j", w}};
    if (type.is_bool()) return define(data, type, v, fmt::format("any{}({})", head, read));
    if (dice_.one_in(2)) return define(data, type, v, fmt::format("{}{}({})", dice_.of<std::string>({"min", "max"}), head, read));
    const Value t = write_.tamed({read, v.bound, v.whole}, type, exact_limit(type) / 9);
    define(data, type, {"", t.bound * static_cast<double>(p * q), true}, fmt::format("sum{}({})", head, t.text));
  }

  // ---- the whole
  std::string text() {
    std::string arguments, names;
    auto argument = [&](const std::string& a) { arguments += (arguments.empty() ? "" : ", ") + a; };
    std::map<std::string, bool> bound;  // does a dimension of an argument stand for the symbol alone?
    auto binds = [&](const Source& s) {
      for (const Extent& e : s.shape)
        if (symbols_.contains(e.text)) bound[e.text] = true;
    };
    std::vector<const Source*> inputs, outputs;
    for (const Source& s : write_.sources) {
      if (s.is_input) inputs.push_back(&s);
      else if (s.reads == 0 || dice_.one_in(5)) outputs.push_back(&s);
    }
    for (const Source* s : inputs) {
      std::string shape;
      for (const Extent& e : s->shape) shape += (shape.empty() ? "" : ", ") + e.text;
      argument(fmt::format("{}: {}[{}]", s->name, to_string(s->type), shape));
      binds(*s);
    }
    for (const Source* s : outputs) binds(*s);
    for (const auto& [name, value] : symbols_) {
      if (!bound[name]) argument(fmt::format("Z{0}: i8[{0}]", name));
      names += (names.empty() ? "" : ", ") + name;
    }
    for (const Source* s : outputs) argument("out " + s->name);
    return fmt::format("function f{}({})\n{}", names.empty() ? "" : "<" + names + ">", arguments, body_);
  }

  Dice& dice_;
  Values values_;
  ExprWriter write_;
  Symbols symbols_;
  std::string body_;
  int stages_ = 0;
};

}  // namespace

RandomProgram random_program(Dice& dice) { return Writer(dice).run(); }

}  // namespace lathe::fuzz
