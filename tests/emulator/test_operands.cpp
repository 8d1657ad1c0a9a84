// The decoder's operands against LLVM's: for every opcode of every target, the assembly that LLVM prints is
// taken apart and compared with what the emulator made of the same bytes.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "encodings.h"

extern "C" const char* lathe_emulator_describe(const char* arch, unsigned lanes, const void* bytes, size_t size);

using namespace emu_test;

namespace {

using Strings = std::vector<std::string>;

Strings split(const std::string& s, char at) {
  Strings v;
  std::string part;
  int depth = 0;
  for (char c : s) {
    if (c == '[' || c == '(') depth++;
    if (c == ']' || c == ')') depth--;
    if (c == at && !depth) v.push_back(part), part.clear();
    else part += c;
  }
  v.push_back(part);
  return v;
}
std::string trim(const std::string& s) {
  const size_t a = s.find_first_not_of(' '), b = s.find_last_not_of(' ');
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}
bool starts(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }

// ---- LLVM's text ---------------------------------------------------------------------------------

struct Operand {
  std::string where;   // "v5+2", "s106+1", "x253", "k" for a number, "off"
  std::string number;  // as printed
  bool neg = false, abs = false, high = false, sext = false;
  bool half = false;   // .l or .h was printed
};
struct Line {
  std::string mnemonic;
  std::vector<Operand> operands;
  std::map<std::string, std::string> modifiers;
};

const std::map<std::string, std::string>& specials() {
  static const std::map<std::string, std::string> m = {
      {"vcc", "s106+2"}, {"vcc_lo", "s106+1"}, {"vcc_hi", "s107+1"}, {"exec", "s126+2"}, {"exec_lo", "s126+1"}, {"exec_hi", "s127+1"}, {"m0", "s124+1"},
      {"src_vccz", "x251"}, {"src_execz", "x252"}, {"src_scc", "x253"}, {"src_shared_base", "x235"}, {"src_shared_limit", "x236"},
      {"src_private_base", "x237"}, {"src_private_limit", "x238"}, {"src_pops_exiting_wave_id", "x239"}, {"src_flat_scratch_base_lo", "x230"},
      {"src_flat_scratch_base_hi", "x231"}, {"flat_scratch", "s102+2"}, {"flat_scratch_lo", "s102+1"}, {"flat_scratch_hi", "s103+1"},
      {"xnack_mask", "s104+2"}, {"xnack_mask_lo", "s104+1"}, {"xnack_mask_hi", "s105+1"}, {"src_lds_direct", "x254"}, {"null", "null"}, {"off", "off"}};
  return m;
}

Operand operand(std::string t) {
  Operand o;
  t = trim(t);
  if (starts(t, "sext(")) o.sext = true, t = t.substr(5, t.size() - 6);
  if (starts(t, "neg(")) o.neg = true, t = t.substr(4, t.size() - 5);
  if (t.size() > 1 && t[0] == '-' && !std::isdigit(static_cast<unsigned char>(t[1]))) o.neg = true, t = t.substr(1);
  if (starts(t, "sext(")) o.sext = true, t = t.substr(5, t.size() - 6);
  if (t.size() > 1 && t[0] == '|') o.abs = true, t = t.substr(1, t.size() - 2);
  if (starts(t, "abs(")) o.abs = true, t = t.substr(4, t.size() - 5);
  if (t.size() > 2 && t[t.size() - 2] == '.' && (t.back() == 'l' || t.back() == 'h')) o.half = true, o.high = t.back() == 'h', t.resize(t.size() - 2);
  if (const auto it = specials().find(t); it != specials().end()) {
    o.where = it->second;
    return o;
  }
  std::string file = starts(t, "ttmp") ? "ttmp" : t.substr(0, 1);
  if ((file == "ttmp" || file == "v" || file == "s" || file == "a") && t.size() > file.size() && (std::isdigit(static_cast<unsigned char>(t[file.size()])) || t[file.size()] == '[')) {
    unsigned from, to;
    const char* rest = t.c_str() + file.size();
    if (*rest == '[') {
      from = to = unsigned(std::strtoul(rest + 1, nullptr, 10));
      if (const char* colon = std::strchr(rest, ':')) to = unsigned(std::strtoul(colon + 1, nullptr, 10));
    } else {
      from = to = unsigned(std::strtoul(rest, nullptr, 10));
    }
    const unsigned base = file == "ttmp" ? 108 : file == "a" ? 256 : 0;
    o.where = (file == "v" || file == "a" ? "v" : "s") + std::to_string(from + base) + "+" + std::to_string(to - from + 1);
    return o;
  }
  if (starts(t, "lit64(") || starts(t, "lit(")) t = t.substr(t.find('(') + 1), t.pop_back();
  o.where = "k", o.number = t;
  return o;
}

Line parse(std::string text) {
  for (size_t a; (a = text.find("/*")) != std::string::npos;) {
    const size_t b = text.find("*/", a);
    text.erase(a, b == std::string::npos ? b : b + 2 - a);
  }
  text = trim(text);
  Line line;
  const size_t space = text.find(' ');
  line.mnemonic = text.substr(0, space);
  if (space == std::string::npos) return line;
  const Strings parts = split(text.substr(space + 1), ',');
  for (size_t k = 0; k < parts.size(); k++) {
    // Modifiers follow the last operand, separated by spaces.
    const Strings words = split(trim(parts[k]), ' ');
    for (size_t j = 0; j < words.size(); j++) {
      const std::string& w = words[j];
      if (w.empty()) continue;
      static const std::set<std::string> flags = {"clamp", "offen", "idxen", "lds", "glc", "slc", "dlc", "scc", "sc0", "sc1", "nt", "tfe", "gds", "scale_offset", "addr64", "nv", "row_mirror", "row_half_mirror", "done", "vm", "high"};
      const size_t colon = w.find(':');
      const bool modifier = flags.count(w) || (colon != std::string::npos && std::isalpha(static_cast<unsigned char>(w[0])) && w.find('[') > colon && w.find('(') > colon);
      if (modifier) line.modifiers[w.substr(0, colon)] = colon == std::string::npos ? "1" : w.substr(colon + 1);
      else if (j == 0) line.operands.push_back(operand(w));
    }
  }
  return line;
}

bool bit_of(const Line& l, const char* name, size_t k, bool otherwise) {
  const auto it = l.modifiers.find(name);
  if (it == l.modifiers.end()) return otherwise;
  const Strings v = split(it->second.substr(1, it->second.size() - 2), ',');
  return k < v.size() ? std::atoi(v[k].c_str()) != 0 : otherwise;
}
long number_of(const Line& l, const char* name, long otherwise) {
  const auto it = l.modifiers.find(name);
  return it == l.modifiers.end() ? otherwise : std::strtol(it->second.c_str(), nullptr, 0);
}

// ---- the emulator's text -------------------------------------------------------------------------

struct Source {
  bool implied = false;
  std::string where, type;
  std::set<std::string> marks;
};
struct Decoded {
  Strings dst;
  std::vector<bool> dst_half;
  std::vector<Source> src;
  std::map<std::string, std::string> fields;
};

Decoded read(const std::string& text) {
  Decoded d;
  std::istringstream in(text);
  std::string word;
  in >> word;
  while (in >> word) {
    const size_t eq = word.find('=');
    const std::string key = word.substr(0, eq), value = eq == std::string::npos ? "1" : word.substr(eq + 1);
    if (key == "dst") {
      const size_t colon = value.find(':');
      d.dst.push_back(value.substr(0, colon));
      d.dst_half.push_back(value.find(",half") != std::string::npos);
    } else if (key == "src") {
      Source s;
      s.implied = value[0] == '~';
      const std::string v = value.substr(s.implied);
      const size_t colon = v.find(':');
      s.where = v.substr(0, colon);
      if (colon != std::string::npos) {
        const Strings marks = split(v.substr(colon + 1), ',');
        s.type = marks[0];
        s.marks.insert(marks.begin() + 1, marks.end());
      }
      d.src.push_back(s);
    } else {
      d.fields[key] = value;
    }
  }
  return d;
}
std::string field(const Decoded& d, const char* name) {
  const auto it = d.fields.find(name);
  return it == d.fields.end() ? "" : it->second;
}

// ---- comparison ----------------------------------------------------------------------------------

bool is_packed(const std::string& t) { return t == "pk16" || t == "pkf16" || t == "pkbf16" || t == "pkf32" || t == "pkb32"; }
bool is_16(const std::string& t) { return t == "b16" || t == "f16" || t == "bf16"; }
bool is_64(const std::string& t) { return t == "b64" || t == "i64" || t == "f64" || t == "pkf32" || t == "pkb32" || t == "mask"; }

uint16_t half_bits(double x) {
  const _Float16 h = _Float16(x);
  uint16_t u;
  std::memcpy(&u, &h, 2);
  return u;
}
uint32_t float_bits(double x) {
  const float f = float(x);
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
bool is_mix(const std::string& type) { return type == "mix" || type == "mixbf"; }
// Whether a printed number can mean the emulator's bits for an operand of this type.
bool same_number(const std::string& printed, uint64_t got, const std::string& type, bool sopk = false) {
  const bool hex = starts(printed, "0x") || starts(printed, "-0x");
  if (!hex && printed.find('.') != std::string::npos) {
    const double x = std::strtod(printed.c_str(), nullptr);
    uint64_t d;
    std::memcpy(&d, &x, 8);
    const bool pi = printed.find("0.1591") != std::string::npos;
    if (type == "f64" || type == "b64" || type == "i64") return pi ? got == 0x3fc45f306dc9c882 : got == d;
    const uint64_t single = pi ? 0x3e22f983 : float_bits(x), half = pi ? 0x3118 : half_bits(x);
    if (type == "bf16" || type == "pkbf16") return got == single >> 16;
    if (type == "mixbf") return got == single >> 16 || got == single;
    if (is_16(type) || type == "pk16" || type == "pkf16" || type == "mix") return got == half || (type == "mix" && got == single) || (type == "pk16" && got == single);
    if (type == "pkf32" || type == "pkb32") return uint32_t(got) == single;
    return got == single;
  }
  const int64_t x = hex ? int64_t(std::strtoull(printed.c_str(), nullptr, 0)) : std::strtoll(printed.c_str(), nullptr, 10);
  if (type == "f64" && hex) return got == uint64_t(x) << 32 || got == uint64_t(x);
  if (is_16(type)) return uint16_t(got) == uint16_t(x);
  if (sopk && uint16_t(got) == uint64_t(x) && int32_t(got) == int16_t(got)) return true;
  if (is_64(type)) return got == uint64_t(x) || uint32_t(got) == uint32_t(x);
  return uint32_t(got) == uint32_t(x);
}

std::string place(const std::string& printed, const std::string& got) {
  // NULL is a sink as a destination and reads as zero; no test uses it as the base of an address.
  if (printed == "null" && starts(got, "s124+")) return "";
  if (printed == "null" && (starts(got, "s128+") || starts(got, "k0x0"))) return "";
  return printed == got ? "" : printed + " is " + got;
}

// "" if they agree.
std::string compare_alu(const Line& l, const Decoded& d) {
  const bool sopk = starts(l.mnemonic, "s_") && l.mnemonic.find("k_") != std::string::npos;  // 16 bits are printed
  size_t at = 0;
  for (size_t k = 0; k < d.dst.size(); k++) {
    if (at >= l.operands.size()) return "more results than printed";
    const Operand& o = l.operands[at++];
    if (const auto p = place(o.where, d.dst[k]); !p.empty()) return "result: " + p;
    if (o.half && o.high != d.dst_half[k]) return "result's half";
  }
  size_t k = 0, modified = 0;
  for (; k < d.src.size(); k++) {
    const Source& s = d.src[k];
    if (at >= l.operands.size()) {
      if (s.implied) continue;
      return "source " + std::to_string(k) + " (" + s.where + ") is not printed";
    }
    const Operand& o = l.operands[at];
    std::string problem;
    if (o.where == "k") {
      if (s.where[0] != 'k' || !same_number(o.number, std::strtoull(s.where.c_str() + 1, nullptr, 0), s.type, sopk)) problem = o.number + " is " + s.where;
    } else {
      problem = place(o.where, s.where);
    }
    if (!problem.empty() && s.implied) continue;
    if (!problem.empty()) return "source " + std::to_string(k) + ": " + problem;
    at++;
    const auto has = [&](const char* m) { return s.marks.count(m) != 0; };
    const size_t m = modified++;
    if (m == 1 && l.mnemonic.find("_class_") != std::string::npos) continue;  // the classes are no float
    if (o.half && s.type != "b32" && has("sel") != o.high) return "source " + std::to_string(k) + ": half";
    const bool neg_lo = bit_of(l, "neg_lo", m, false), neg_hi = bit_of(l, "neg_hi", m, false);
    // Of integer dot products the bits say what is signed, or nothing: they change no operand.
    if (starts(l.mnemonic, "v_dot") && (l.mnemonic.find("_i32_") != std::string::npos || l.mnemonic.find("_u32_") != std::string::npos)) continue;
    // Packed integers take no notice of the bits, and the text leaves them out.
    if (s.type != "pk16" && has("neg") != (o.neg || neg_lo)) return "source " + std::to_string(k) + ": neg";
    const bool abs = has("abs") || (is_mix(s.type) && has("neg_hi"));
    if (abs != (o.abs || ((s.type == "f32" || is_mix(s.type)) && neg_hi))) return "source " + std::to_string(k) + ": abs";
    if (is_packed(s.type) && s.type != "pk16" && has("neg_hi") != (neg_hi || o.neg)) return "source " + std::to_string(k) + ": neg_hi";
    if (is_packed(s.type) || is_mix(s.type) || (is_16(s.type) && !o.half && o.where[0] == 'v')) {
      // The bits of conversions choose bytes, or the result's half.
      if (!starts(l.mnemonic, "v_cvt_") && has("sel") != bit_of(l, "op_sel", m, false)) return "source " + std::to_string(k) + ": op_sel";
      if (!is_16(s.type) && !s.implied && s.type != "pkb32" && has("sel_hi") != bit_of(l, "op_sel_hi", m, !is_mix(s.type))) return "source " + std::to_string(k) + ": op_sel_hi";
    }
    if (l.modifiers.count("src0_sel") || l.modifiers.count("src1_sel")) {
      static const std::map<std::string, int> selects = {{"BYTE_0", 0}, {"BYTE_1", 1}, {"BYTE_2", 2}, {"BYTE_3", 3}, {"WORD_0", 4}, {"WORD_1", 5}, {"DWORD", 6}};
      const auto it = l.modifiers.find(m == 0 ? "src0_sel" : "src1_sel");
      if (it != l.modifiers.end() && m < 2 && s.type != "mask" && !has(("sdwa" + std::to_string(selects.at(it->second)) + (o.sext ? "s" : "")).c_str())) return "source " + std::to_string(k) + ": SDWA select";
    }
  }
  if (at < l.operands.size()) return "operand " + std::to_string(at) + " (" + l.operands[at].where + l.operands[at].number + ") is not read";
  // Of a comparison the bit is about exceptions; SDWA gives it to operations that cannot overflow.
  const bool sdwa = l.modifiers.count("dst_sel") != 0, overflows = l.mnemonic.find("add") != std::string::npos || l.mnemonic.find("sub") != std::string::npos || (l.mnemonic.find("_f") != std::string::npos && l.mnemonic.find("cvt") == std::string::npos);
  // Conversions to integers saturate in any case, and what counts bits cannot overflow.
  bool converts = false;
  for (const char* to : {"v_cvt_i", "v_cvt_u", "v_cvt_pk", "v_cvt_fl", "v_cvt_near", "v_cvt_rpi", "v_cvt_norm", "v_frexp_exp", "v_ffb"}) converts |= starts(l.mnemonic, to);
  if (!starts(l.mnemonic, "v_cmp") && !converts && (!sdwa || overflows) && (field(d, "clamp") == "1") != (l.modifiers.count("clamp") != 0)) return "clamp";
  const long mul = number_of(l, "mul", 0), div = number_of(l, "div", 0), omod = mul == 2 ? 1 : mul == 4 ? 2 : div == 2 ? 3 : 0;
  if (omod != std::atol(field(d, "omod").c_str())) return "output multiplier";
  if (l.modifiers.count("bitop3") ? field(d, "bitop3") != std::to_string(number_of(l, "bitop3", 0)) : field(d, "bitop3") != "" && field(d, "bitop3") != "0") return "bitop3";
  static const std::map<std::string, std::string> selects = {{"BYTE_0", "0"}, {"BYTE_1", "1"}, {"BYTE_2", "2"}, {"BYTE_3", "3"}, {"WORD_0", "4"}, {"WORD_1", "5"}, {"DWORD", "6"}};
  if (const auto it = l.modifiers.find("dst_sel"); it != l.modifiers.end() && field(d, "dst_sel") != selects.at(it->second)) return "dst_sel";
  static const std::map<std::string, std::string> unused = {{"UNUSED_PAD", "0"}, {"UNUSED_SEXT", "1"}, {"UNUSED_PRESERVE", "2"}};
  if (const auto it = l.modifiers.find("dst_unused"); it != l.modifiers.end() && field(d, "dst_unused") != "3" && unused.count(it->second) && field(d, "dst_unused") != unused.at(it->second)) return "dst_unused";
  if (l.modifiers.count("dpp8")) {
    unsigned sel = 0;
    const std::string& v = l.modifiers.at("dpp8");
    const Strings lanes = split(v.substr(1, v.size() - 2), ',');
    for (size_t j = 0; j < lanes.size(); j++) sel |= unsigned(std::atoi(lanes[j].c_str())) << (3 * j);
    if (std::strtoul(field(d, "dpp8").c_str(), nullptr, 0) != sel) return "dpp8";
    if ((field(d, "fi") == "1") != (number_of(l, "fi", 0) == 1)) return "fi";
  } else if (l.modifiers.count("row_mask") && field(d, "dpp") != "") {
    const unsigned long ctrl = std::strtoul(field(d, "dpp").c_str(), nullptr, 0);
    if (l.modifiers.count("quad_perm")) {
      const std::string& v = l.modifiers.at("quad_perm");
      const Strings lanes = split(v.substr(1, v.size() - 2), ',');
      unsigned want = 0;
      for (size_t j = 0; j < lanes.size(); j++) want |= unsigned(std::atoi(lanes[j].c_str())) << (2 * j);
      if (ctrl != want) return "quad_perm";
    }
    for (const auto& [name, base] : {std::pair<const char*, unsigned>{"row_shl", 0x100}, {"row_shr", 0x110}, {"row_ror", 0x120}, {"row_share", 0x150}, {"row_newbcast", 0x150}, {"row_xmask", 0x160}})
      if (l.modifiers.count(name) && ctrl != base + unsigned(number_of(l, name, 0))) return name;
    if (l.modifiers.count("row_mirror") && ctrl != 0x140) return "row_mirror";
    if (l.modifiers.count("row_half_mirror") && ctrl != 0x141) return "row_half_mirror";
    if (std::atol(field(d, "rows").c_str()) != number_of(l, "row_mask", 15)) return "row_mask";
    if (std::atol(field(d, "banks").c_str()) != number_of(l, "bank_mask", 15)) return "bank_mask";
    // bound_ctrl:1 and the older bound_ctrl:0 both mean the bit is set.
    if ((field(d, "bound_ctrl") == "1") != (l.modifiers.count("bound_ctrl") != 0)) return "bound_ctrl";
    if ((field(d, "fi") == "1") != (number_of(l, "fi", 0) == 1)) return "fi";
  } else if (l.modifiers.count("row_mask") || field(d, "dpp") != "") {
    return "DPP";
  }
  return "";
}

std::string compare_memory(const Line& l, const std::string& described) {
  std::istringstream in(described);
  std::string word;
  in >> word;
  size_t at = 0;
  std::map<std::string, std::string> fields;
  while (in >> word) {
    const size_t eq = word.find('=');
    const std::string key = word.substr(0, eq), value = eq == std::string::npos ? "1" : word.substr(eq + 1);
    if (key == "dst" || key == "data" || key == "addr" || key == "base" || key == "soffset") {
      while (at < l.operands.size() && l.operands[at].where == "off") at++;
      if (at >= l.operands.size()) return key + " " + value + " is not printed";
      const Operand& o = l.operands[at++];
      if (o.where == "k") {
        if (value[0] != 'k' || !same_number(o.number, std::strtoull(value.c_str() + 1, nullptr, 0), "b32")) return key + ": " + o.number + " is " + value;
      } else if (const auto p = place(o.where, value); !p.empty()) {
        return key + ": " + p;
      }
    } else {
      fields[key] = value;
    }
  }
  while (at < l.operands.size() && (l.operands[at].where == "off" || l.operands[at].where == "null")) at++;
  if (at < l.operands.size()) {
    // A scalar load's immediate is printed as an operand of its own.
    if (l.operands[at].where == "k" && at + 1 == l.operands.size()) {
      if (std::strtol(l.operands[at].number.c_str(), nullptr, 0) != std::atol(fields["offset"].c_str())) return "offset: " + l.operands[at].number + " is " + fields["offset"];
      return "";
    }
    return "operand " + std::to_string(at) + " (" + l.operands[at].where + l.operands[at].number + ") is not read";
  }
  if (l.mnemonic == "ds_swizzle_b32" && l.modifiers.count("offset")) return "";  // printed in words
  for (const char* name : {"offset", "offset0", "offset1"})
    if (fields.count(name) || l.modifiers.count(name))
      if (number_of(l, name, 0) != std::atol(fields[name].c_str())) return std::string(name) + ": " + std::to_string(number_of(l, name, 0)) + " is " + fields[name];
  for (const char* name : {"offen", "idxen", "lds", "scale_offset"}) {
    if (!std::strcmp(name, "lds") && described.find("_LOAD_LDS_") != std::string::npos) continue;  // in the name
    if ((l.modifiers.count(name) != 0) != (fields.count(name) != 0)) return name;
  }
  return "";
}

// Control instructions print their immediates in words (waits, messages, hardware registers, branch targets), and
// matrix instructions are compared in the tests of their values.
bool left_out(const std::string& opcode) {
  static const char* prefixes[] = {"S_WAIT", "S_SENDMSG", "S_GETREG", "S_SETREG", "S_BRANCH", "S_CBRANCH", "S_CALL", "S_DELAY", "S_CLAUSE", "S_NOP", "S_SLEEP", "S_SET", "S_TRAP", "S_ENDPGM", "S_INST_PREFETCH",
                                   "S_BARRIER", "S_PREFETCH", "S_ICACHE", "S_DCACHE", "S_GL1", "S_TTRACE", "S_CODE_END", "S_VERSION", "S_ROUND", "S_DENORM", "S_RFE", "S_WAKEUP", "S_PERF", "S_INCPERF", "S_DECPERF",
                                   "V_MFMA", "V_SMFMAC", "V_WMMA", "V_SWMMAC", "S_GET_PC", "S_GETPC", "S_SWAP", "S_SINGLEUSE", "V_NOP", "BUFFER_WB", "BUFFER_INV", "BUFFER_GL", "S_MONITOR", "GLOBAL_PREFETCH", "FLAT_PREFETCH", "S_BUFFER_PREFETCH", "S_SLEEP_VAR", "S_ATOMIC", "S_WAKEUP", "GLOBAL_WB", "GLOBAL_INV", "DS_NOP"};
  for (const char* p : prefixes)
    if (starts(opcode, p)) return true;
  return false;
}

std::string check(const std::string& arch, unsigned lanes, const Encoding& e, std::string& described) {
  described = lathe_emulator_describe(arch.c_str(), lanes, e.bytes.data(), e.bytes.size());
  if (starts(described, "missing")) return "";
  // LLVM marks what it decodes and calls wrong: a register that does not exist or is not aligned.
  if (e.text.find("Invalid") != std::string::npos || e.text.find("invalid") != std::string::npos) return "";
  const size_t both = e.text.find(" :: "), both2 = described.find(" :: ");
  if ((both == std::string::npos) != (both2 == std::string::npos)) return "a pair";
  if (both != std::string::npos) {
    const std::string x = compare_alu(parse(e.text.substr(0, both)), read(described.substr(0, both2)));
    return x.empty() ? compare_alu(parse(e.text.substr(both + 4)), read(described.substr(both2 + 4))) : x;
  }
  const bool memory = described.find(" offset") != std::string::npos;
  return memory ? compare_memory(parse(e.text), described) : compare_alu(parse(e.text), read(described));
}

}  // namespace

TEST_CASE("the decoder's operands are LLVM's", "[operands]") {
  const char* only = std::getenv("LATHE_EMULATOR_TEST_TARGETS");
  const char* draws = std::getenv("LATHE_OPERAND_DRAWS");
  const Strings targets = split(only ? only : "gfx900,gfx90a,gfx942,gfx950,gfx1030,gfx1100,gfx1150,gfx1200,gfx1250", ',');
  for (const std::string& arch : targets) {
    const unsigned lanes = generation(arch) == 9 ? 64 : 32;
    std::map<std::string, std::pair<int, std::string>> wrong;
    unsigned compared = 0;
    each_encoding(arch, lanes, draws ? unsigned(std::atoi(draws)) : 3, [&](const Encoding& e) {
      if (left_out(e.opcode)) return;
      if (e.opcode.find("V_PK_FMAC_F16_sdwa") == 0) return;  // no meaning that a document gives
      // gfx9 has neither NULL nor, before gfx90a, AGPRs in memory instructions; FLAT's offset has 12 bits up to
      // gfx11, 11 on gfx10.
      const unsigned gen = generation(arch);
      if (gen == 9 && e.text.find("null") != std::string::npos) return;
      if ((arch == "gfx900" || arch == "gfx906" || arch == "gfx908") && e.opcode.find("_agpr") != std::string::npos) return;
      if (gen < 12 && starts(trim(e.text), "flat_") && number_of(parse(e.text), "offset", 0) > (gen == 10 ? 2047 : 4095)) return;
      // LLVM prints the bit for all of gfx12; gfx1250 alone has it.
      if (arch != "gfx1250" && e.text.find("scale_offset") != std::string::npos) return;
      std::string described;
      const std::string problem = check(arch, lanes, e, described);
      compared++;
      if (problem.empty()) return;
      auto& w = wrong[e.opcode + ": " + problem.substr(0, problem.find(':'))];
      if (!w.first++) w.second = problem + "\n    " + trim(e.text) + "\n    " + described;
    });
    std::ostringstream report;
    for (const auto& [key, value] : wrong) report << key << " (" << value.first << " times): " << value.second << "\n";
    INFO(arch << ": " << compared << " instructions, wrong in " << wrong.size() << " ways\n" << report.str());
    CHECK(compared > 3000);
    CHECK(wrong.empty());
  }
}
