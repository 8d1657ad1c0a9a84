# Every package Lathe is built on. The list of Debian packages that hold them is tools/packages.txt.

# LLVM's version file wants an equal major.minor, so ask for none and check the major.
find_package(LLVM CONFIG REQUIRED HINTS /usr/lib/llvm-22/lib/cmake/llvm)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Lathe needs LLVM 22, found ${LLVM_PACKAGE_VERSION}. Run tools/lathe-dev setup.")
endif()
find_package(LLD CONFIG REQUIRED HINTS ${LLVM_INSTALL_PREFIX}/lib/cmake/lld)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)              # fat binaries are compressed with these two
find_library(LATHE_ZSTD zstd REQUIRED)
find_package(Flatbuffers QUIET)
find_program(LATHE_FLATC flatc REQUIRED)
find_path(ISL_INCLUDE_DIR isl/ctx.h REQUIRED)
find_library(ISL_LIBRARY isl REQUIRED)
find_path(HIP_INCLUDE_DIR hip/hip_runtime_api.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)

# LLVM's headers, as system headers so that their warnings stay theirs. Link only from
# compiler/codegen and runtime/emulator.
add_library(lathe_llvm INTERFACE)
target_include_directories(lathe_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(lathe_llvm INTERFACE LLVM)

add_library(lathe_isl INTERFACE)
target_include_directories(lathe_isl SYSTEM INTERFACE ${ISL_INCLUDE_DIR})
target_link_libraries(lathe_isl INTERFACE ${ISL_LIBRARY})
