// For the promise that a warm launch does not touch the heap.
#pragma once

namespace lathe {

// Calls of operator new by this thread since the last reset.
int& allocations();

}  // namespace lathe
