// The list of row tables of one CPU level.
#include "rows/tables.h"

#define LATHE_STRING2(x) #x
#define LATHE_STRING(x) LATHE_STRING2(x)

// Scalar, control and lane rows have no lane loops to speak of: one build of them serves all levels.
namespace lathe::emu::baseline {
std::span<const Row> scalar_rows();
std::span<const Row> control_rows();
std::span<const Row> lane_rows();
}

namespace lathe::emu::LATHE_LEVEL {

const RowSet& row_set() {
  static const std::span<const Row> tables[] = {
      baseline::scalar_rows(), baseline::control_rows(),      vector_integer_rows(), vector_float_rows(),
      vector_double_rows(), vector_half_rows(), vector_packed_rows(),  vector_convert_rows(),
      vector_byte_rows(),
      vector_bf16_rows(),
      vector_compare_rows(), baseline::lane_rows(), memory_rows(),         lds_rows(),
      mfma_rows(), dot_rows(), vector_fp8_rows(), scaled_rows(), wmma_rows(),
  };
  static const RowSet set{LATHE_STRING(LATHE_LEVEL), tables};
  return set;
}

}  // namespace lathe::emu::LATHE_LEVEL
