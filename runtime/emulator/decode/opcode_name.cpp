#include "decode/opcode_name.h"

#include <array>
#include <cctype>
#include <vector>

namespace lathe::emu {
namespace {

// Encoding and generation suffixes are lower case (_e32, _gfx11, _t16); the base never is.
std::string upper_part(std::string_view name) {
  size_t end = name.size();
  for (size_t k = 0; k + 1 < name.size(); k++)
    if (name[k] == '_' && std::islower(static_cast<unsigned char>(name[k + 1]))) {
      end = k;
      break;
    }
  return std::string(name.substr(0, end));
}

bool starts(std::string_view s, std::string_view with) { return s.substr(0, with.size()) == with; }

// Drops addressing-form tokens ("_SADDR") and notes "_RTN", wherever it stands.
void drop_forms(OpcodeName& n) {
  static constexpr std::array forms = {"SADDR", "SVS", "ST", "OFFSET", "OFFEN", "IDXEN", "BOTHEN", "ADDR64", "VBUFFER", "IMM", "SGPR", "VE", "SVE", "SV", "SS"};
  std::string out;
  size_t from = 0;
  while (from <= n.base.size()) {
    const size_t to = std::min(n.base.find('_', from), n.base.size());
    const std::string_view token(n.base.data() + from, to - from);
    bool form = false;
    if (token == "RTN") form = n.returns = true;
    for (std::string_view f : forms) form |= token == f;
    if (!form) {
      if (!out.empty()) out += '_';
      out += token;
    }
    from = to + 1;
  }
  n.base = out;
}

}  // namespace

OpcodeName take_apart(std::string_view name) {
  OpcodeName n;
  if (starts(name, "V_DUAL_")) {
    const size_t x = name.find("_X_");
    if (x != std::string_view::npos) {
      n.base = "V_" + upper_part(name.substr(7, x - 7));
      n.dual = "V_" + upper_part(name.substr(x + 3));
      return n;
    }
  }
  n.base = upper_part(name);
  // Renamed instructions carry both names run together: V_FMA_F16V_FMA_F16_gfx9_t16.
  for (size_t k = 1; k + 1 < n.base.size(); k++)
    if (n.base[k] == 'V' && n.base[k + 1] == '_' && std::isdigit(static_cast<unsigned char>(n.base[k - 1]))) {
      n.base.resize(k);
      break;
    }
  const bool memory = starts(n.base, "GLOBAL_") || starts(n.base, "CLUSTER_") || starts(n.base, "FLAT_") || starts(n.base, "SCRATCH_") || starts(n.base, "BUFFER_") || starts(n.base, "DS_") ||
                      starts(n.base, "S_LOAD_") || starts(n.base, "S_BUFFER_") || starts(n.base, "S_STORE_") || starts(n.base, "S_SCRATCH_");
  if (memory) drop_forms(n);
  return n;
}

}  // namespace lathe::emu
