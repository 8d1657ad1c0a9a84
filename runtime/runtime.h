// All that an application needs to run compiled kernels.
#pragma once

#include "runtime/array.h"
#include "runtime/base/dtype.h"
#include "runtime/base/error.h"
#include "runtime/device.h"
#include "runtime/host_array.h"
#include "runtime/module.h"
#include "runtime/npy.h"
#include "runtime/package.h"
#include "runtime/stream.h"
