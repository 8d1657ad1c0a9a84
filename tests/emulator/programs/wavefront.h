// HIP 5.2's headers want a macro that clang had then and has no longer; given to every compilation by -include.
#pragma once
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
