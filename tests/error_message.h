// For tests of refusals: the message itself is what is checked, never just that something was thrown.
#pragma once

#include <string>

#include "runtime/base/error.h"

namespace lathe {

// What the Error that `action` throws says: "" when it throws none.
template <class Action>
std::string error_message(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace lathe
