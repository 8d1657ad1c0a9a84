// What every room throws. A user's mistake is a lathe::Error (where, what, hint); a mistake of ours
// is LATHE_CHECK, which says where and aborts. Nothing else leaves Lathe.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lathe {

// The user asked for something that cannot be done.
//   where: the step, file:line:column, call or argument that was at fault
//   what:  the fact, with its numbers
//   hint:  what would be legal (may be empty)
class Error : public std::runtime_error {
 public:
  Error(std::string where, std::string what, std::string hint = {})
      : std::runtime_error(where + ": " + what + (hint.empty() ? "" : " (hint: " + hint + ")")),
        where_(std::move(where)),
        message_(std::move(what)),
        hint_(std::move(hint)) {}

  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string where_, message_, hint_;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace lathe

// An invariant of our own. `detail` is printed (usually the IR at hand) before the process aborts.
#define LATHE_CHECK(condition, detail)                                              \
  do {                                                                              \
    if (!(condition)) ::lathe::check_failed(__FILE__, __LINE__, #condition, detail); \
  } while (false)
