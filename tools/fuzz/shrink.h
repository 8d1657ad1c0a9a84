// A failing pair made small: what is left still fails, and nothing that could be taken away is left.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lathe::fuzz {

// Does the text still fail in the same way? If so, the text to go on with: the candidate, or what it prints as.
using StillFails = std::function<std::optional<std::string>(const std::string& text)>;

// `text` is a pair (pair.h), printed. Steps, outputs and inputs go, expressions become their parts or a number, stages
// become inputs, numbers and symbols get small, types plain; again, until nothing changes or `seconds` are over. Works on
// the text's tokens, so that new steps and operators need nothing here: what is no program does not fail.
std::string shrink(std::string text, double seconds, const StillFails& still_fails);

}  // namespace lathe::fuzz
