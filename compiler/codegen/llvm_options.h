// LLVM's process-wide options: those that correct code depends on, and a lock, because lld resets all of them.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace lathe {

// Held while LLVM optimises and generates code: the options are set, and no linker runs. Any number of threads at once.
std::shared_lock<std::shared_mutex> generating_code();

// Held while lld runs, alone. It parses options of its own and puts all others back to their defaults.
std::unique_lock<std::shared_mutex> linking();

}  // namespace lathe
