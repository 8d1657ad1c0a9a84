// LLVM's DWARF reader: the second of the two translation units that include LLVM.
#include "decode/source_lines.h"

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <mutex>

namespace lathe::emu {

struct SourceLines::Context {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
};

namespace {
std::mutex mutex;
// Line `number` of `source`, from 1, without its indentation; cut where it grows too long for a report.
std::string line_of(llvm::StringRef source, u32 number) {
  for (u32 k = 1; k < number; k++) source = source.split('\n').second;
  const llvm::StringRef line = source.split('\n').first.trim();
  constexpr size_t longest = 100;
  return line.size() <= longest ? line.str() : line.take_front(longest).str() + " …";
}
std::string text(const llvm::DILineInfo& l) {
  if (!l || l.Line == 0) return "";
  std::string s = l.FileName.substr(l.FileName.rfind('/') + 1) + ":" + std::to_string(l.Line);  // the name alone: paths differ between machines
  if (l.Source) s += " `" + line_of(*l.Source, l.Line) + "`";
  return s;
}
}  // namespace

SourceLines::SourceLines(std::span<const u8> elf, u64 bias) : bytes_(elf.begin(), elf.end()), bias_(bias) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::find(u64 pc) const {
  std::lock_guard lock(mutex);
  const auto ignore = [](llvm::Error e) { llvm::consumeError(std::move(e)); };
  if (!context_) {
    context_ = std::make_unique<Context>();
    const llvm::StringRef bytes(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
    if (!object) {
      ignore(object.takeError());
      return "";
    }
    context_->object = std::move(*object);
    context_->dwarf = llvm::DWARFContext::create(*context_->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "", ignore, ignore);
  }
  if (!context_->dwarf) return "";
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, llvm::DILineInfoSpecifier::FunctionNameKind::None);
  const llvm::DIInliningInfo frames = context_->dwarf->getInliningInfoForAddress({pc - bias_, llvm::object::SectionedAddress::UndefSection}, wanted);
  std::string s, last;
  for (u32 k = 0; k < frames.getNumberOfFrames(); k++) {
    const std::string line = text(frames.getFrame(k));
    if (line.empty() || line == last) continue;
    s += s.empty() ? line : ", inlined at " + line;
    last = line;
  }
  return s;
}

}  // namespace lathe::emu
