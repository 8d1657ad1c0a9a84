// Does a package's content make sense? Asked before it is written and after it is read, so that the runtime may
// follow every index in it.
#include <set>

#include "runtime/base/error.h"
#include "runtime/base/package.h"
#include "runtime/base/target.h"

namespace lathe {
namespace {

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Each check returns "" or the reason, and callers stop at the first reason.
std::string check_expr(const ShapeExpr& expr, size_t symbols, const std::string& place) {
  const std::string why = why_malformed(expr, symbols);
  return why.empty() ? "" : place + ": malformed expression, " + why;
}

std::string check_shape(const std::vector<ShapeExpr>& shape, size_t symbols, const std::string& place) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (std::string why = check_expr(shape[i], symbols, place + " extent " + std::to_string(i)); !why.empty())
      return why;
  return "";
}

std::string check_symbols_bound(const FunctionData& f) {
  std::vector<bool> bound(f.symbols.size());
  for (const ArgumentData& a : f.arguments)
    for (const ShapeExpr& extent : a.shape)
      if (extent.is_symbol()) bound[static_cast<size_t>(extent.steps[0].value)] = true;
  for (size_t i = 0; i < bound.size(); ++i)
    if (!bound[i]) return "symbol " + quoted(f.symbols[i]) + " is the extent of no argument, so no call can bind it";
  return "";
}

std::string check_kernel_argument(const KernelArgument& a, const FunctionData& f, const std::string& place) {
  switch (a.kind) {
    case KernelArgumentKind::argument:
      if (a.index < f.arguments.size()) return "";
      return place + ": argument " + std::to_string(a.index) + " of " + std::to_string(f.arguments.size());
    case KernelArgumentKind::workspace:
      if (a.index < f.workspaces.size()) return "";
      return place + ": workspace " + std::to_string(a.index) + " of " + std::to_string(f.workspaces.size());
    case KernelArgumentKind::expression:
      if (!a.type.is_int() || a.type.lanes != 1)
        return place + ": an expression is passed as an integer, not as " + to_string(a.type);
      return check_expr(a.expression, f.symbols.size(), place);
  }
  return place + ": unknown kind " + std::to_string(static_cast<int>(a.kind));
}

std::string check_launch(const LaunchData& l, const FunctionData& f) {
  const std::string place = "launch of " + quoted(l.kernel);
  if (l.kernel.empty()) return "a launch without a kernel's name";
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (std::string why = check_expr(l.grid[i], f.symbols.size(), place + " grid." + "xyz"[i]); !why.empty()) return why;
    if (l.block[i] < 1 || l.block[i] > max_group_extent)
      return place + ": block." + "xyz"[i] + " is " + std::to_string(l.block[i]) + ", from 1 to " +
             std::to_string(max_group_extent) + " is possible";
    threads *= l.block[i];
  }
  if (threads > max_threads_per_group)
    return place + ": " + std::to_string(threads) + " threads in a group, the limit is " +
           std::to_string(max_threads_per_group);
  for (size_t i = 0; i < l.arguments.size(); ++i)
    if (std::string why = check_kernel_argument(l.arguments[i], f, place + " parameter " + std::to_string(i));
        !why.empty())
      return why;
  return l.condition.empty() ? "" : check_expr(l.condition, f.symbols.size(), place + " condition");
}

std::string check_function(const FunctionData& f) {
  const size_t symbols = f.symbols.size();
  for (const ArgumentData& a : f.arguments)
    if (std::string why = check_shape(a.shape, symbols, "argument " + quoted(a.name)); !why.empty()) return why;
  for (const WorkspaceData& w : f.workspaces)
    if (std::string why = check_shape(w.shape, symbols, "workspace " + quoted(w.name)); !why.empty()) return why;
  for (const LaunchData& l : f.launches)
    if (std::string why = check_launch(l, f); !why.empty()) return why;
  for (const PromiseData& p : f.promises)
    if (std::string why = check_expr(p.condition, symbols, "promise " + quoted(p.text)); !why.empty()) return why;
  return check_symbols_bound(f);
}

std::string check_certificate(const CertificateData& c, const std::set<std::string_view>& functions, const std::set<std::string_view>& targets) {
  if (!functions.count(c.function)) return "of function " + quoted(c.function) + ", which the package does not have";
  if (!targets.count(c.target)) return "for " + quoted(c.target) + ", for which the package has no code object";
  for (const Claim& claim : c.claims) {
    if (to_string(claim.verdict).empty()) return "unknown verdict " + std::to_string(static_cast<int>(claim.verdict));
    if (claim.verdict == Verdict::disproved) return "function " + quoted(c.function) + " is proved wrong: " + claim.what;
  }
  return "";
}

}  // namespace

std::string_view to_string(Verdict v) {
  switch (v) {
    case Verdict::proved: return "proved";
    case Verdict::disproved: return "disproved";
    case Verdict::undecided: return "undecided";
  }
  return "";
}

std::string to_string(const Claim& claim) {
  const auto column = [](std::string_view text, size_t width) { return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ') + " "; };
  return column(to_string(claim.verdict), 10) + column(claim.kind, 13) + claim.what;
}

std::string why_invalid(const PackageData& package) {
  std::set<std::string_view> names, targets;
  for (const FunctionData& f : package.functions) {
    if (!names.insert(f.name).second) return "two functions named " + quoted(f.name);
    if (std::string why = check_function(f); !why.empty()) return "function " + quoted(f.name) + ": " + why;
  }
  for (const CodeObjectData& object : package.code_objects) {
    if (!targets.insert(object.target).second) return "two code objects for " + object.target;
    try {
      parse_target(object.target);
    } catch (const Error& error) {
      return std::string("code object: ") + error.what();
    }
  }
  std::set<std::pair<std::string_view, std::string_view>> certified;
  for (const CertificateData& c : package.certificates) {
    if (!certified.emplace(c.function, c.target).second) return "two certificates of function " + quoted(c.function) + " for " + c.target;
    if (std::string why = check_certificate(c, names, targets); !why.empty()) return "certificate: " + why;
  }
  return "";
}

}  // namespace lathe
