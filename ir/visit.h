// Walking and rebuilding IR: the few helpers from which passes are written.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/stmt.h"

namespace lathe {

// Calls `f` on each direct child expression.
void for_each_child(const Expr& e, const std::function<void(const Expr&)>& f);
// `e` with each direct child replaced by f(child); `e` itself when none changed.
Expr map_children(const Expr& e, const std::function<Expr(const Expr&)>& f);
// Pre-order over every expression below and including `e`; `f` says whether to go below.
void walk(const Expr& e, const std::function<bool(const Expr&)>& f);

// Calls `fe` on each direct child expression of a statement and `fs` on each direct child statement.
void for_each_child(const Stmt& s, const std::function<void(const Expr&)>& fe,
                    const std::function<void(const Stmt&)>& fs);
// `s` rebuilt from its children; `s` itself when none changed. A null result of `fs` drops that statement.
Stmt map_children(const Stmt& s, const std::function<Expr(const Expr&)>& fe,
                  const std::function<Stmt(const Stmt&)>& fs);
// Pre-order over every statement, and over every expression in them.
void walk(const Stmt& s, const std::function<bool(const Stmt&)>& fs, const std::function<bool(const Expr&)>& fe);

using Substitution = std::unordered_map<const VarNode*, Expr>;
Expr substitute(const Expr& e, const Substitution& map);
Stmt substitute(const Stmt& s, const Substitution& map);
// A copy whose loops bind new variables: a variable is bound once.
Stmt with_new_loops(const Stmt& s, const std::function<Var(const Var&)>& copy = {});

// Does `v` occur in `e`?
bool uses(const Expr& e, const Var& v);
bool uses_any(const Expr& e, const std::function<bool(const VarNode*)>& is_one);

// Is there a tensor read in `e`? A reduction?
bool has_load(const Expr& e);
bool has_reduce(const Expr& e);
// The first reduction in a body, in pre-order: a body has one, however often it names it. nullptr: none.
const ReduceNode* find_reduce(const std::vector<Expr>& body);

}  // namespace lathe
