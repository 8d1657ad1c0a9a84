// Instructions that compilers rarely choose, against the host; and every setting of wave size and code object version.
#include <cmath>

#include "support.h"

using namespace emu_test;

namespace {

std::vector<u32> words(int n, unsigned seed) {
  const auto x = interesting64(n, seed);
  return {x.begin(), x.end()};
}
u32 sad(u32 a, u32 b, u32 c, bool masked) {
  for (int k = 0; k < 32; k += 8)
    if (!masked || (b >> k & 255)) c += u32(std::abs(int(a >> k & 255) - int(b >> k & 255)));
  return c;
}
u64 four_sums(u64 a, u32 b, u64 c, bool masked) {
  u64 r = 0;
  for (int k = 0; k < 4; k++) r |= u64(sad(u32(a >> (8 * k)), b, u32(c >> (16 * k)) & 0xffff, masked) & 0xffff) << (16 * k);
  return r;
}
float from_bf16(u32 x) {
  const u32 u = x << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
// To nearest even from a value that a double holds exactly, or nearly.
u32 to_bf16(double x) {
  const float down = std::nextafter(float(x), 0.0f), f = std::fabs(double(float(x))) > std::fabs(x) ? down : float(x);
  u32 u;
  std::memcpy(&u, &f, 4);
  const u32 rest = u & 0xffff, sticky = double(f) != x;
  const bool up = rest > 0x8000 || (rest == 0x8000 && (sticky || (u >> 16 & 1)));
  return (u >> 16) + up;
}
u32 bits_of(_Float16 h) {
  uint16_t u;
  std::memcpy(&u, &h, 2);
  return u;
}
bool listed(const std::string& arch, std::initializer_list<const char*> which) {
  for (const char* w : which)
    if (arch == w) return true;
  return false;
}

}  // namespace

TEST_CASE("sums of differences of bytes, cube maps", "[rows]") {
  const int n = 64;
  const auto x = words(n, 11), y = words(n, 12), z = words(n, 13);
  std::vector<float> fx(n), fy(n), fz(n);
  for (int i = 0; i < n; i++) fx[i] = float(i % 7) - 3, fy[i] = float(i % 5) - 2, fz[i] = float(i % 3) - 1;
  for (const auto& arch : targets) {
    INFO(arch);
    Module m(arch, compile_opencl("rows.cl", arch, "-O1"));
    Buffer<float> ax(fx), ay(fy), az(fz), faces(n * 4);
    ok(launch(m["cube"], {1}, {n}, 0, faces, ax, ay, az));
    const auto f = faces.get();
    for (int i = 0; i < n; i++) {
      const float p[3] = {fx[i], fy[i], fz[i]};
      int axis = 0;
      for (int k = 1; k < 3; k++)
        if (std::fabs(p[k]) >= std::fabs(p[axis])) axis = k;  // z before y before x
      const bool minus = p[axis] < 0;
      const float sc = axis == 2 ? (minus ? -p[0] : p[0]) : axis == 1 ? p[0] : minus ? p[2] : -p[2], tc = axis == 1 ? (minus ? -p[2] : p[2]) : -p[1];
      INFO("lane " << i);
      REQUIRE((f[i * 4] == float(2 * axis + minus) && f[i * 4 + 1] == sc && f[i * 4 + 2] == tc && f[i * 4 + 3] == 2 * p[axis]));
    }
    if (arch == "gfx1250") continue;  // it has no such sums but v_sad_u8
    Buffer<u32> dx(x), dy(y), dz(z), out(n * 4);
    Buffer<u64> wide(n * 2);
    ok(launch(m["bytes"], {1}, {n}, 0, out, wide, dx, dy, dz));
    std::vector<u32> want;
    std::vector<u64> want2;
    for (int i = 0; i < n; i++) {
      u32 lerp = 0, perm = 0;
      for (int k = 0; k < 32; k += 8) {
        lerp |= (((x[i] >> k & 255) + (y[i] >> k & 255) + (z[i] >> k & 1)) / 2) << k;
        perm |= u32((u64(x[i]) << 32 | y[i]) >> (8 * (z[i] >> k & 7)) & 255) << k;
      }
      for (u32 w : {sad(x[i], y[i], z[i], true), sad(x[i], y[i], z[i], false), lerp, perm}) want.push_back(w);
      const u64 a = u64(x[i]) << 32 | z[i], c = u64(z[i]) << 32 | y[i];
      want2.push_back(four_sums(a, y[i], c, false)), want2.push_back(four_sums(a, y[i], c, true));
    }
    same(out.get(), want);
    same(wide.get(), want2);
  }
}

TEST_CASE("loads from global memory into LDS", "[rows]") {
  const auto x = words(64, 21);
  for (const std::string arch : {"gfx942", "gfx950"}) {
    INFO(arch);
    Module m(arch, compile_opencl("rows.cl", arch, "-O1 -DLDS_LOADS"));
    Buffer<u32> in(x), out(192);
    ok(launch(m["lds_loads"], {1}, {64}, 0, out, in, 1));
    const auto o = out.get();
    const auto* bytes = reinterpret_cast<const uint8_t*>(x.data());
    for (int i = 0; i < 64; i++) {
      REQUIRE(o[i] == x[63 - i]);
      REQUIRE(o[64 + i] == bytes[i]);
      REQUIRE(o[128 + i] == u32(bytes[2 * i] | bytes[2 * i + 1] << 8));
    }
  }
}

TEST_CASE("lane swaps and random numbers of gfx950", "[rows]") {
  const auto x = words(64, 31), y = words(64, 32);
  Module m("gfx950", compile_opencl("rows.cl", "gfx950", "-O1 -DSWAPS"));
  Buffer<u32> dx(x), dy(y), out(320);
  ok(launch(m["swaps"], {1}, {64}, 0, out, dx, dy));
  const auto o = out.get();
  for (int i = 0; i < 64; i++) {
    INFO("lane " << i);
    REQUIRE(o[i] == (i & 16 ? y[i - 16] : x[i]));
    REQUIRE(o[64 + i] == (i & 16 ? y[i] : x[i + 16]));
    REQUIRE(o[128 + i] == (i & 32 ? y[i - 32] : x[i]));
    REQUIRE(o[192 + i] == (i & 32 ? y[i] : x[i + 32]));
    REQUIRE(o[256 + i] == ((x[i] << 1) ^ (x[i] >> 31 ? 197u : 0u)));
  }
}

TEST_CASE("scalar f16 of gfx11.5 and gfx12", "[rows]") {
  for (const std::string arch : {"gfx1150", "gfx1200"}) {
    Module m(arch, compile_opencl("rows.cl", arch, "-O1 -DSCALAR_FLOATS"));
    const _Float16 values[] = {_Float16(1.5f), _Float16(-2.5f), _Float16(1000.25f), _Float16(0.0625f), _Float16(-7.75f)};
    for (_Float16 x : values)
      for (_Float16 y : values) {
        INFO(arch << " " << float(x) << " " << float(y));
        const _Float16 z = _Float16(0.5f);
        u32 a = bits_of(x), b = bits_of(y), c = bits_of(z);
        Buffer<u32> out(9);
        ok(launch(m["scalar_halves"], {1}, {1}, 0, out, a, b, c));
        const float f = float(x);
        same(out.get(), {bits_of(x + y), bits_of(x - y), bits_of(x * y), bits_of(_Float16(std::ceil(f))), bits_of(_Float16(std::floor(f))), bits_of(_Float16(std::trunc(f))),
                         bits_of(_Float16(std::nearbyint(f))), bits_of(_Float16(double(x) * double(y) + double(z))), u32(x < y)});
      }
  }
}

TEST_CASE("bf16, 1024 registers and asynchronous copies of gfx1250", "[rows]") {
  const int n = 32;
  std::vector<u32> x(n), y(n), z(n), want;
  for (int i = 0; i < n; i++) {
    const auto pair = [](float lo, float hi) { return to_bf16(lo) | to_bf16(hi) << 16; };
    x[i] = pair(1.0f + 0.37f * float(i), -3.0f * float(i + 1)), y[i] = pair(0.011f * float(i + 3), 7.5f), z[i] = pair(-0.3f * float(i), 100.0f);
    u32 r[3] = {};
    for (int h = 0; h < 32; h += 16) {
      const double a = from_bf16(x[i] >> h & 0xffff), b = from_bf16(y[i] >> h & 0xffff), c = from_bf16(z[i] >> h & 0xffff);
      r[0] |= to_bf16(a + b) << h, r[1] |= to_bf16(a * b) << h, r[2] |= to_bf16(a * b + c) << h;
    }
    want.insert(want.end(), r, r + 3);
  }
  Module m("gfx1250", compile_opencl("rows.cl", "gfx1250", "-O1 -DBF16"));
  Buffer<u32> dx(x), dy(y), dz(z), out(n * 3), out2(64);
  ok(launch(m["bf16_ops"], {1}, {n}, 0, out, dx, dy, dz));
  same(out.get(), want);
  // clang does not take v968 as a clobber, so the kernel descriptor's count of registers is raised in the assembly.
  std::string text = assembly_of("rows.cl", "gfx1250", "-O1 -DBF16");
  for (size_t at = 0; (at = text.find(".amdhsa_next_free_vgpr", at)) != std::string::npos; at++) text.replace(at, text.find('\n', at) - at, ".amdhsa_next_free_vgpr 1024");
  Module high("gfx1250", assemble(text, "gfx1250"));
  ok(launch(high["high_registers"], {1}, {n}, 0, out2, dx));
  const auto o = out2.get();
  for (int i = 0; i < n; i++) REQUIRE((o[i] == 2 * x[i] && o[32 + i] == x[31 - i]));
}

TEST_CASE("wave sizes and code object versions", "[rows]") {
  std::vector<i32> x(256);
  i32 sum = 0;
  for (int i = 0; i < 256; i++) x[i] = i * i - 77, sum += x[i];
  for (const std::string arch : {"gfx1030", "gfx1150", "gfx1201", "gfx1250", "gfx90a"})
    for (const std::string flags : {"-mcode-object-version=4", "-mcode-object-version=5", "-mcode-object-version=6", "-mwavefrontsize64"}) {
      if (flags == "-mwavefrontsize64" && listed(arch, {"gfx1250", "gfx90a"})) continue;
      INFO(arch << " " << flags);
      Module m(arch, compile_opencl("basics.cl", arch, "-O2 " + flags));
      Buffer<i32> in(x), out(1);
      ok(launch(m["reduce"], {1}, {256}, 0, out, in));
      REQUIRE(out.get()[0] == sum);
    }
}
