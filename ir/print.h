// IR as text. Printing is the exact inverse of parsing (parse.h): names are made unique on the way out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "ir/program.h"
#include "ir/stmt.h"

namespace lathe {

// Unique names for variables, tensors and combiners, given out in the order of their first use. Words that the
// grammar keeps for itself are never given.
class Names {
 public:
  std::string of(const Var& v) { return of(v.get(), v.name()); }
  std::string of(const TensorNode& t) { return of(&t, t.name); }
  std::string of(const CombinerNode& c) { return of(&c, c.name); }
  // From now on `v` is called by its own name and hides whatever had it: the axes of a definition, by which a schedule
  // calls its loops.
  void keep(const Var& v) { given_[v.get()] = v.name(); }

 private:
  std::string of(const void* node, const std::string& wanted);
  std::map<const void*, std::string> given_;
  std::set<std::string> taken_;
};

// Is `name` an operator, a type, a built-in combiner or a keyword of the text form?
bool is_reserved(const std::string& name);

std::string to_string(const Expr& e);
std::string to_string(const Stmt& s);
std::string to_string(const Kernel& k);
// Also where each statement begins in the text, as a line from 1: what debuggers and `lathe explain` point at.
using StmtLines = std::unordered_map<const StmtNode*, int>;
std::string to_string(const Kernel& k, StmtLines& lines);
std::string to_string(const LoweredFunction& f);
std::string to_string(const Program& p);  // a whole .te file

std::string print(const Expr& e, Names& names);
std::string print(const Stmt& s, Names& names, int indent = 0);

}  // namespace lathe
