// The passes, in the order of the pipeline table (compiler/pipeline.cpp). Each is one file that opens with what it
// does, before and after, and why it stands where it stands.
#pragma once

#include "compiler/lowering.h"

namespace lathe {

void apply_schedule(Lowering& l);
void check_accesses(Lowering& l);
void infer_bounds(Lowering& l);
void build_loops(Lowering& l);
void pipeline_loops(Lowering& l);
void merge_versions(Lowering& l);
void guard_tails(Lowering& l);
void partition_tails(Lowering& l);
void split_kernels(Lowering& l);
void combine_work_items(Lowering& l);
void place_storage(Lowering& l);
void virtual_threads(Lowering& l);
void insert_barriers(Lowering& l);
void lay_out_storage(Lowering& l);
void vectorize_loops(Lowering& l);
void unroll_loops(Lowering& l);
void flatten_storage(Lowering& l);
void narrow_indices(Lowering& l);

}  // namespace lathe
