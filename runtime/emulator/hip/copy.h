// Copies and fills for other calls: symbols, graphs.
#pragma once

#include "hip/operation.h"

namespace lathe::emu {

// Checked, then into the stream (or the graph that it is captured to). A null stream is hipErrorInvalidHandle.
hipError_t copy(const char* call, const StreamRef&, bool wait, void* dst, const void* src, size_t size, hipMemcpyKind);
hipError_t copy(const char* call, const StreamRef&, bool wait, Planes dst, Planes src, Extent, hipMemcpyKind);
hipError_t planes_of(const char* call, const hipMemcpy3DParms&, Planes& dst, Planes& src, Extent&);

}  // namespace lathe::emu
