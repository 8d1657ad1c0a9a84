// The pipeline: the table of contents of the compiler, and the driver that runs, times, prints, stops and verifies.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lowering.h"
#include "ir/verify.h"

namespace lathe {

struct Pass {
  std::string_view name;
  std::string_view does;  // one line
  void (*run)(Lowering&);
  std::optional<Form> form;  // what verify holds the result to; none while there are only stages
};
std::span<const Pass> pipeline();

struct PassTime {
  std::string pass;
  double milliseconds;
  double isl_milliseconds = 0;  // the share of it that isl took
};

struct PipelineOptions {
  std::string stop_after;                                                  // a pass name; empty: all of them
  std::function<void(const Pass&, const Lowering&)> after_each;            // called between passes
  bool verify = true;                                                      // check each stage's invariants between passes
};

// Runs the passes on `program` for `target`. Throws Error on what the user must change (also an unknown stop_after).
Lowering lower(const Program& program, const Target& target, const PipelineOptions& options = {},
               std::vector<PassTime>* times = nullptr);

// What there is to see after a pass: stages with their bounds, statements, or kernels.
std::string describe(const Lowering& l);

}  // namespace lathe
