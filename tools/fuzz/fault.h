// What a pair of program and schedule shows that must not be.
#pragma once

#include <stdexcept>
#include <string>

namespace lathe::fuzz {

struct Fault : std::runtime_error {
  Fault(std::string kind, std::string what) : std::runtime_error(kind + ": " + what), kind(std::move(kind)), detail(std::move(what)) {}
  std::string kind;    // which check failed, in words that stay the same while the program shrinks
  std::string detail;
};

}  // namespace lathe::fuzz
