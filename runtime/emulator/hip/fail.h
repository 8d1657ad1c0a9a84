// Faults on request: LATHE_EMULATOR_FAIL=malloc:3,launch:7 makes the third allocation of device memory fail as
// out of memory and the seventh launch as a launch failure, so that a client can test how it takes that. A kind
// may be listed several times. Calls count from the start of the process.
#pragma once

namespace lathe::emu {

bool fail_now(const char* kind);   // "malloc" or "launch"; counts the call

}  // namespace lathe::emu
