#include "ir/evaluate.h"

#include <fmt/format.h>

#include "ir/evaluate_arguments.h"
#include "runtime/base/error.h"

namespace lathe {
namespace {

// One definition, ready to run.
struct Nest {
  struct Loop {
    size_t slot;
    const Code* extent;
  };
  struct Output {
    Storage* storage;
    const Code* value;
    bool is_real;
  };
  std::vector<Loop> loops;
  std::vector<Output> outputs;
  int64_t element = 0;

  void run(State& s, size_t depth = 0) {
    if (depth == loops.size()) {
      s.reduced = false;
      for (const Output& o : outputs) {
        if (o.is_real)
          write_real(*o.storage, element, o.value->real(s));
        else
          write_integer(*o.storage, element, o.value->integer(s));
      }
      ++element;
      return;
    }
    const int64_t extent = loops[depth].extent->integer(s);
    for (int64_t i = 0; i < extent; ++i) {
      s.integers[loops[depth].slot] = i;
      run(s, depth + 1);
    }
  }
};

}  // namespace

void evaluate(const Program& program, std::span<const BufferView> views) {
  ExprCompiler compiler(fmt::format("evaluate({})", program.name));
  EvaluatedArguments arguments(compiler, program.arguments, program.symbols);
  const std::vector<Tensor> computed = program.computed();
  std::vector<Nest> nests;
  for (size_t first = 0; first < computed.size();) {
    const DefinitionNode& d = *computed[first]->definition;
    compiler.begin_definition();
    Nest nest;
    for (const Axis& a : d.axes) nest.loops.push_back({compiler.slot(a.var.node()), compiler.compile(a.extent)});
    for (size_t o = 0; o < d.body.size(); ++o) {
      const Tensor& t = computed[first + o];
      arguments.add_temporary(t);
      nest.outputs.push_back({&compiler.storage(t), compiler.compile(d.body[o]), t.type().is_float()});
    }
    nests.push_back(std::move(nest));
    first += d.body.size();
  }

  State state = compiler.make_state();
  arguments.bind(views, state);
  for (Nest& nest : nests) nest.run(state);
}

}  // namespace lathe
