// What the steps share: the stages that a step changes, how it finds its loops there, and how it refuses.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ir/schedule/schedule.h"

namespace lathe {

Stage make_stage(std::string name, std::vector<Tensor> outputs, const DefinitionNode& definition);

// A name that no loop of the stage has: wanted, wanted_1, …
std::string fresh_loop(const Stage& stage, const std::string& wanted);

// The constant extent of a loop where the steps alone say it (an axis of constant extent and what splits and fuses
// make of it); nullopt when it depends on a shape symbol or on where the stage is computed.
std::optional<int64_t> constant_extent(const Stage& stage, int loop);

class StepContext {
 public:
  StepContext(Schedule& schedule, std::vector<Stage>& stages, const Step& step) : schedule(schedule), stages(stages), step(step) {}

  Schedule& schedule;          // a copy of the caller's
  std::vector<Stage>& stages;  // its stages, producers before consumers
  const Step& step;

  // Throws Error; where: the step's text.
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;

  Stage& stage(const std::string& name);               // by the name of any of its outputs; not an inlined one
  int leaf(Stage& s, const std::string& name) const;   // a loop that runs, as an index into Stage::loops
  int plain_leaf(Stage& s, const std::string& name) const;  // … that is not bound, vectorized or unrolled
  void unoccupied(const Stage& s, int loop) const;     // refuses when another stage is computed inside it
  int add_loop(Stage& s, const std::string& name, bool is_reduction);
  // Two loops in place of a plain one: the outer and the inner.
  std::array<int, 2> split(Stage& s, int loop, const std::array<std::string, 2>& names, int64_t factor, bool by_parts, Tail tail);
  void new_tensor_name(const std::string& name) const;  // refuses a name that is taken or reserved
  bool reads(const Stage& reader, const Stage& produced) const;
  bool depends_on(const Stage& consumer, const Stage& producer) const;  // perhaps through other stages
  Scope scope() const;                                 // what the step's word says
};

}  // namespace lathe
