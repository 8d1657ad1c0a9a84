// For hints: which of the known words somebody may have meant.
#pragma once

#include <string_view>

namespace lathe {

// How many letters to change, add or leave out to make one word of the other.
int edit_distance(std::string_view a, std::string_view b);

}  // namespace lathe
