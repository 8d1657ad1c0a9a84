#include "tools/fuzz/voices.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ir/simplify.h"
#include "ir/visit.h"

namespace lathe::fuzz {
namespace {

std::vector<BufferView> views(Arrays& arrays) {
  std::vector<BufferView> result;
  for (HostArray& a : arrays) result.push_back({a.dtype(), a.shape(), reinterpret_cast<std::byte*>(a.bytes().data())});
  return result;
}

Device& device(const std::string& gpu) {
  static std::map<std::string, Device> open;
  auto found = open.find(gpu);
  if (found == open.end()) found = open.emplace(gpu, Device::open("emulator:" + gpu)).first;
  return found->second;
}

// About how many stores a statement runs; an extent that is no number counts as 32.
double work(const Stmt& s) {
  double inside = 0;
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { inside += work(child); });
  const auto* l = as<LoopNode>(s);
  if (!l) return inside + (s->kind == StmtKind::store);
  const Expr extent = simplify(l->end - l->begin);
  const int64_t* count = as_constant(extent);
  return inside * (count ? static_cast<double>(*count) : 32);
}

double work(const LoweredFunction& f) {
  double total = f.body ? work(f.body) : 0;
  for (const Kernel& k : f.kernels) {
    double items = static_cast<double>(k.block[0] * k.block[1] * k.block[2]);
    for (const Expr& extent : k.grid)
      if (const int64_t* count = as_constant(extent)) items *= static_cast<double>(*count);
    total += items * work(k.body);
  }
  return total;
}

std::string element(const HostArray& a, int64_t i) { return fmt::format("{}", a.value(i)); }

}  // namespace

Shape shape_of(const Tensor& t, const Program& program, const Symbols& symbols) {
  Substitution map;
  for (const Var& v : program.symbols)
    if (auto found = symbols.find(v.name()); found != symbols.end()) map[v.node()] = constant(i64, found->second);
  Shape shape;
  for (const Expr& e : t.shape()) {
    const Expr extent = substitute(e, map);
    const int64_t* c = as_constant(extent);
    if (!c) throw Error("shape of " + t.name(), "a symbol in it has no value", "give one with --set n=1000, or an input with --in");
    if (*c < 0) throw Error("shape of " + t.name(), fmt::format("an extent is {}", *c), "give symbols values that make every extent 0 or more");
    shape.push_back(*c);
  }
  return shape;
}

Arrays random_arrays(const Program& program, const Symbols& symbols, uint64_t seed, Values values) {
  Dice dice(seed);
  Arrays arrays;
  for (const Tensor& t : program.arguments) {
    arrays.emplace_back(t.type(), shape_of(t, program, symbols));
    if (t.is_placeholder())
      fill(arrays.back(), dice, values);
    else if (!t.type().is_bool() && arrays.back().size() > 0)
      std::memset(arrays.back().bytes().data(), 0xee, arrays.back().bytes().size());
  }
  return arrays;
}

Arrays by_evaluator(const Program& program, Arrays arrays) {
  evaluate(program, views(arrays));
  return arrays;
}

Arrays by_passes(const LoweredFunction& function, Arrays arrays) {
  evaluate(function, views(arrays));
  return arrays;
}

Arrays by_gpu(const Module& module, const std::string& gpu, const Arrays& arrays) {
  Device& d = device(gpu);
  auto loaded = module.load(d);
  std::vector<Array> there;
  for (const HostArray& a : arrays) there.push_back(Array::from_host(d, a));
  loaded[module.program().name](std::span<const Array>(there));
  d.synchronize();
  Arrays result;
  for (const Array& a : there) result.push_back(a.to_host());
  return result;
}

std::string difference(const Program& program, const Arrays& result, const Arrays& expected) {
  for (size_t a = 0; a < program.arguments.size(); ++a) {
    const HostArray &x = result[a], &y = expected[a];
    if (x == y) continue;
    const int width = x.dtype().bytes();
    int64_t count = 0, first = -1;
    for (int64_t i = 0; i < x.size(); ++i) {
      if (std::memcmp(x.bytes().data() + i * width, y.bytes().data() + i * width, static_cast<size_t>(width)) == 0) continue;
      if (x.dtype().is_float() && std::isnan(x.value(i)) && std::isnan(y.value(i))) continue;
      if (first < 0) first = i;
      ++count;
    }
    if (count > 0)
      return fmt::format("{} of {} elements of {} differ, the first is {}: {}, not {}", count, x.size(),
                         program.arguments[a].name(), first, element(x, first), element(y, first));
  }
  return "";
}

bool promises_hold(const LoweredFunction& function, const Arrays& arrays) {
  Substitution values;
  for (size_t a = 0; a < function.arguments.size(); ++a)
    for (size_t d = 0; d < function.arguments[a].shape().size(); ++d)
      if (const auto* symbol = as<VarNode>(function.arguments[a].shape()[d])) values[symbol] = Expr(arrays[a].shape()[d]);
  for (const auto& promise : function.promises)
    if (is_constant(substitute(promise.condition, values), 0)) return false;
  return true;
}

void PassWatch::operator()(const Pass& pass, const Lowering& l) {
  // Between split_kernels and insert_barriers, work-items are not yet ordered.
  if (!found_.empty() || !pass.form || pass.name == "split_kernels" || pass.name == "place_storage" || pass.name == "virtual_threads") return;
  if (!promises_hold(l.function, arrays_)) return;
  // Loops over work-items inside one another are run in full here.
  if (work(l.function) > most_stores_) return;
  try {
    found_ = difference(program_, by_passes(l.function, arrays_), expected_);
  } catch (const Error& e) {
    // A stage in LDS or registers may compute elements beyond a tensor's edge from what nobody wrote, as long as
    // nobody stores them: that is for the emulated GPU to watch.
    bool beyond_edge = e.message().find("is read before anything was written") != std::string::npos;
    for (const auto* list : {&l.function.arguments, &l.function.workspaces})
      for (const Tensor& t : *list) beyond_edge &= !e.message().starts_with(t.name() + "[");
    if (!beyond_edge) found_ = e.what();
  }
  if (found_.empty()) return;
  pass_ = pass.name;
  found_ += "\n" + describe(l);
}

std::string disagreement(const Program& program, const Arrays& arrays, const std::vector<std::string>& on) {
  const Arrays expected = by_evaluator(program, arrays);
  PassWatch watch(program, arrays, expected);
  PipelineOptions options;
  options.after_each = std::ref(watch);
  lower(program, parse_target("gfx942"), options);
  if (!watch.found().empty()) return fmt::format("after {}: {}", watch.pass(), watch.found());
  for (const std::string& gpu : on) {
    const Module module = build(program, gpu);
    std::string found;
    try {
      found = difference(program, by_gpu(module, gpu, arrays), expected);
    } catch (const Error& e) {
      found = e.what();
    }
    if (!found.empty()) return fmt::format("{}: {}\n{}", gpu, found, module.source("ir"));
  }
  return "";
}

}  // namespace lathe::fuzz
