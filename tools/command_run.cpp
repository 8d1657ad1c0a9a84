#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "compiler/build.h"
#include "ir/evaluate.h"
#include "ir/parse.h"
#include "ir/visit.h"
#include "runtime/array.h"
#include "runtime/base/error.h"
#include "runtime/device.h"
#include "runtime/module.h"
#include "runtime/npy.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/fuzz/values.h"

namespace lathe {
namespace {

// NAME=VALUE, as --in, --out and --set take it.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(option + " " + text, "this is not NAME=VALUE", fmt::format("write {} A=…", option));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::byte* bytes_of(HostArray& a) { return reinterpret_cast<std::byte*>(a.bytes().data()); }

struct RunCommand {
  std::string file, device_name, values = "fractions";
  std::vector<std::string> in, out, set;
  std::optional<uint64_t> random;
  bool check = false;
  int64_t ulp = 0;

  void run() const {
    const Program program = parse_program(read_text(file), file);
    std::map<const VarNode*, int64_t> symbols = symbol_values(program);
    std::vector<HostArray> arrays = inputs(program, symbols);

    Device device = Device::open(device_name);
    BuildOptions options;
    options.line_tables = true;  // the emulated GPU's reports then show the statement at fault
    const Module module = build(program, device.info().target_id, options);
    auto loaded = module.load(device);
    std::vector<Array> on_device;
    for (const HostArray& a : arrays) on_device.push_back(Array::from_host(device, a));
    loaded[program.name](std::span<const Array>(on_device));
    device.synchronize();

    bool equal = true;
    std::vector<HostArray> expected = arrays;
    if (check) {
      std::vector<BufferView> views;
      for (HostArray& a : expected) views.push_back({a.dtype(), a.shape(), bytes_of(a)});
      evaluate(program, views);
    }
    std::map<std::string, std::string> files;
    for (const std::string& o : out) files.insert(assignment("--out", o));
    for (size_t i = 0; i < arrays.size(); ++i) {
      const Tensor& t = program.arguments[i];
      if (t.is_placeholder()) continue;
      const HostArray result = on_device[i].to_host();
      if (auto path = files.find(t.name()); path != files.end()) {
        write_npy(path->second, result);
        files.erase(path);
      } else if (!check) {
        summarize(t, result);
      }
      if (check) equal &= compare(t, result, expected[i]);
    }
    if (!files.empty())
      throw Error("--out " + files.begin()->first, "the program has no output of that name", "outputs are the parameters marked out");
    if (!equal)
      throw Error(file, fmt::format("the device's result differs from the evaluator's by more than {} ulp", ulp),
                  "math functions (exp, sin, …) agree within some ulp, and a schedule that reorders a float reduction changes its rounding: "
                  "allow for it with --ulp 4; anything else is a fault in Lathe, or of the device");
  }

  std::map<const VarNode*, int64_t> symbol_values(const Program& program) const {
    std::map<const VarNode*, int64_t> values;
    for (const std::string& s : set) {
      const auto [name, text] = assignment("--set", s);
      bool found = false;
      for (const Var& v : program.symbols)
        if (v.name() == name) {
          int64_t value = 0;
          const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
          if (error != std::errc{} || end != text.data() + text.size() || value < 0)
            throw Error("--set " + s, "the value is not a whole number of 0 or more", "write --set n=1000");
          values[v.node()] = value;
          found = true;
        }
      if (!found) throw Error("--set " + s, fmt::format("the program has no symbol {}", name), "symbols stand in < > after the function's name");
    }
    return values;
  }

  static Shape shape_of(const Tensor& t, const std::map<const VarNode*, int64_t>& symbols) {
    Substitution map;
    for (const auto& [v, value] : symbols) map[v] = constant(i64, value);
    Shape shape;
    for (const Expr& e : t.shape()) {
      const Expr extent = substitute(e, map);
      const int64_t* c = as_constant(extent);
      if (!c) throw Error("shape of " + t.name(), "a symbol in it has no value", "give one with --set n=1000, or an input with --in");
      shape.push_back(*c);
    }
    return shape;
  }

  // Before anything is filled: all arguments, on the host and on the device, and once more for --check.
  static void check_memory(const Program& program, const std::map<const VarNode*, int64_t>& symbols) {
    const double available = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    double bytes = 0;
    for (const Tensor& t : program.arguments) {
      double size = t.type().bytes();
      for (int64_t extent : shape_of(t, symbols)) {
        if (extent < 0)
          throw Error("shape of " + t.name(), fmt::format("an extent is {}", extent), "give symbols values that make every extent 0 or more");
        size *= static_cast<double>(extent);
      }
      bytes += size;
    }
    if (3 * bytes > available)
      throw Error("arguments of " + program.name, fmt::format("they take {:.3g} bytes, this machine has {:.3g}, a third of which can be used", bytes, available),
                  "use smaller shapes");
  }

  std::vector<HostArray> inputs(const Program& program, std::map<const VarNode*, int64_t>& symbols) const {
    std::map<std::string, HostArray> given;
    for (const std::string& i : in) {
      const auto [name, path] = assignment("--in", i);
      const Tensor* tensor = nullptr;
      for (const Tensor& t : program.arguments)
        if (t.name() == name && t.is_placeholder()) tensor = &t;
      if (!tensor) throw Error("--in " + i, fmt::format("the program has no input {}", name), "inputs are the parameters without out");
      HostArray a = read_npy(path, tensor->type());
      for (size_t d = 0; d < a.shape().size() && d < tensor->shape().size(); ++d)
        if (const auto* v = as<VarNode>(tensor->shape()[d])) symbols.emplace(v, a.shape()[d]);
      given.emplace(name, std::move(a));
    }
    check_memory(program, symbols);
    fuzz::Dice dice(random.value_or(0));
    std::vector<HostArray> arrays;
    for (const Tensor& t : program.arguments) {
      if (auto found = given.find(t.name()); found != given.end()) {
        arrays.push_back(found->second);
        continue;
      }
      if (t.is_placeholder() && !random)
        throw Error("input " + t.name(), "it has no value", fmt::format("give --in {}=FILE.npy, or --random 1", t.name()));
      arrays.emplace_back(t.type(), shape_of(t, symbols));
      if (t.is_placeholder()) fuzz::fill(arrays.back(), dice, *fuzz::parse_values(values));
    }
    return arrays;
  }

  static std::string element(const HostArray& a, int64_t i) {
    if (a.dtype() == f64) return fmt::format("{}", a.value(i));
    return a.dtype().is_float() ? fmt::format("{}", static_cast<float>(a.value(i))) : fmt::format("{}", static_cast<int64_t>(a.value(i)));
  }

  static void summarize(const Tensor& t, const HostArray& a) {
    std::string list;
    for (int64_t i = 0; i < std::min<int64_t>(a.size(), 8); ++i) list += (i ? " " : "") + element(a, i);
    fmt::print("{}: {}[{}] = {}{}\n", t.name(), to_string(t.type()), fmt::join(a.shape(), ", "), list, a.size() > 8 ? " …" : "");
  }

  // A float's place among all floats of its type, so that neighbours are 1 apart.
  static int64_t place(uint64_t bits, DType t) {
    const uint64_t sign = uint64_t{1} << (t.bits - 1);
    return bits & sign ? -static_cast<int64_t>(bits & (sign - 1)) : static_cast<int64_t>(bits);
  }

  bool compare(const Tensor& t, const HostArray& result, const HostArray& expected) const {
    int64_t different = 0, beyond = 0, first = -1, largest = 0;
    const int width = t.type().bytes();
    auto bits = [&](const HostArray& a, int64_t i) {
      uint64_t value = 0;
      std::memcpy(&value, a.bytes().data() + i * width, static_cast<size_t>(width));
      return value;
    };
    for (int64_t i = 0; i < result.size(); ++i) {
      const uint64_t x = bits(result, i), y = bits(expected, i);
      const bool is_float = t.type().is_float(), x_nan = is_float && std::isnan(result.value(i)), y_nan = is_float && std::isnan(expected.value(i));
      if (x == y || (x_nan && y_nan)) continue;
      ++different;
      // Integers and NaN are right or wrong; floats are some number of steps apart.
      const int64_t apart = !is_float || x_nan != y_nan ? INT64_MAX : std::abs(place(x, t.type()) - place(y, t.type()));
      if (apart > largest) first = i;
      largest = std::max(largest, apart);
      beyond += apart > ulp;
    }
    if (different == 0)
      fmt::print("{}: {} elements equal the evaluator's bit for bit\n", t.name(), result.size());
    else
      fmt::print("{}: {} of {} elements differ{}; element {} is {}, the evaluator says {}\n", t.name(), different, result.size(),
                 largest == INT64_MAX ? "" : fmt::format(", by {} ulp at most", largest), first, element(result, first), element(expected, first));
    return beyond == 0;
  }
};

}  // namespace

void add_run_command(CLI::App& app) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Compile a .te file for a device and run it there");
  sub->add_option("file", command->file, "The program: tensors and schedule")->required();
  sub->add_option("--device", command->device_name, "hip:0, emulator:gfx942, …; without it an AMD GPU, else the emulated one");
  sub->add_option("--in", command->in, "NAME=FILE.npy, an input");
  sub->add_option("--out", command->out, "NAME=FILE.npy, where an output goes");
  sub->add_option("--set", command->set, "NAME=VALUE, a shape symbol");
  sub->add_option("--random", command->random, "Fill the other inputs with random values of this seed");
  sub->add_option("--values", command->values, "What random values are: whole numbers, fractions below 1, or whole ones with NaN, infinities and extremes")
      ->check(CLI::IsMember({"whole", "fractions", "special"}));
  sub->add_flag("--check", command->check, "Compare with the evaluator bit for bit");
  sub->add_option("--ulp", command->ulp, "How many units in the last place --check lets floats differ")->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  sub->callback([command] { command->run(); });
}

}  // namespace lathe
