#include "runtime/base/package.h"

#include <flatbuffers/flatbuffers.h>

#include "runtime/base/error.h"
#include "runtime/base/package_generated.h"
#include "runtime/base/xxhash64.h"

namespace lathe {
namespace {

namespace fb = flatbuffers;
namespace format = package_format;

constexpr size_t payload_alignment = 16;
constexpr size_t prefix_bytes = sizeof(fb::uoffset_t);  // the size prefix: bytes that follow it
// Below FLATBUFFERS_MAX_BUFFER_SIZE (2 GiB), with room for the tables around the code objects.
constexpr size_t max_package_bytes = 0x7ff00000;

// ---- PackageData to flatbuffer. One function per table, in the schema's order. ----

fb::Offset<format::Expr> put(fb::FlatBufferBuilder& b, const ShapeExpr& expr) {
  std::vector<fb::Offset<format::Step>> steps;
  for (const ShapeStep& step : expr.steps)
    steps.push_back(format::CreateStep(b, static_cast<uint8_t>(step.op), step.value));
  return format::CreateExpr(b, b.CreateVector(steps));
}

template <class Table, class Item>
auto put_all(fb::FlatBufferBuilder& b, const Item& items, Table (*one)(fb::FlatBufferBuilder&,
                                                                       const typename Item::value_type&)) {
  std::vector<Table> tables;
  for (const auto& item : items) tables.push_back(one(b, item));
  return b.CreateVector(tables);
}

fb::Offset<fb::String> put_string(fb::FlatBufferBuilder& b, const std::string& text) { return b.CreateString(text); }

fb::Offset<format::Argument> put(fb::FlatBufferBuilder& b, const ArgumentData& a) {
  const auto shape = put_all<fb::Offset<format::Expr>>(b, a.shape, put);
  const auto name = b.CreateString(a.name), type = b.CreateString(to_string(a.type));
  return format::CreateArgument(b, name, type, shape, a.is_output);
}

fb::Offset<format::Workspace> put(fb::FlatBufferBuilder& b, const WorkspaceData& w) {
  const auto shape = put_all<fb::Offset<format::Expr>>(b, w.shape, put);
  const auto name = b.CreateString(w.name), type = b.CreateString(to_string(w.type));
  return format::CreateWorkspace(b, name, type, shape);
}

fb::Offset<format::KernelArgument> put(fb::FlatBufferBuilder& b, const KernelArgument& a) {
  const auto expression = put(b, a.expression);
  const auto type = b.CreateString(to_string(a.type));
  return format::CreateKernelArgument(b, static_cast<uint8_t>(a.kind), a.index, expression, type);
}

fb::Offset<format::Launch> put(fb::FlatBufferBuilder& b, const LaunchData& l) {
  const auto grid = put_all<fb::Offset<format::Expr>>(b, l.grid, put);
  const auto block = b.CreateVector(l.block.data(), l.block.size());
  const auto arguments = put_all<fb::Offset<format::KernelArgument>>(b, l.arguments, put);
  const auto condition = put(b, l.condition);
  const auto kernel = b.CreateString(l.kernel);
  return format::CreateLaunch(b, kernel, grid, block, l.dynamic_lds_bytes, arguments, condition);
}

fb::Offset<format::Promise> put(fb::FlatBufferBuilder& b, const PromiseData& p) {
  const auto condition = put(b, p.condition);
  const auto text = b.CreateString(p.text);
  return format::CreatePromise(b, condition, text);
}

fb::Offset<format::Function> put(fb::FlatBufferBuilder& b, const FunctionData& f) {
  const auto symbols = put_all<fb::Offset<fb::String>>(b, f.symbols, put_string);
  const auto arguments = put_all<fb::Offset<format::Argument>>(b, f.arguments, put);
  const auto workspaces = put_all<fb::Offset<format::Workspace>>(b, f.workspaces, put);
  const auto launches = put_all<fb::Offset<format::Launch>>(b, f.launches, put);
  const auto promises = put_all<fb::Offset<format::Promise>>(b, f.promises, put);
  const auto name = b.CreateString(f.name);
  return format::CreateFunction(b, name, symbols, arguments, workspaces, launches, promises);
}

fb::Offset<format::CodeObject> put(fb::FlatBufferBuilder& b, const CodeObjectData& o) {
  b.ForceVectorAlignment(o.bytes.size(), 1, payload_alignment);
  const auto bytes = b.CreateVector(o.bytes);
  const auto target = b.CreateString(o.target);
  return format::CreateCodeObject(b, target, bytes);
}

fb::Offset<format::Source> put(fb::FlatBufferBuilder& b, const SourceData& s) {
  const auto name = b.CreateString(s.name), text = b.CreateString(s.text);
  return format::CreateSource(b, name, text);
}

fb::Offset<format::Claim> put(fb::FlatBufferBuilder& b, const Claim& c) {
  const auto kind = b.CreateString(c.kind), what = b.CreateString(c.what);
  return format::CreateClaim(b, static_cast<uint8_t>(c.verdict), kind, what);
}

fb::Offset<format::Certificate> put(fb::FlatBufferBuilder& b, const CertificateData& c) {
  const auto claims = put_all<fb::Offset<format::Claim>>(b, c.claims, put);
  const auto function = b.CreateString(c.function), target = b.CreateString(c.target);
  return format::CreateCertificate(b, function, target, claims);
}

// ---- flatbuffer to PackageData. A field that is absent reads as empty; what then makes no sense is refused by
// why_invalid. Only a type's name and an array's length cannot be expressed there, so they throw. ----

struct Reader {
  std::string_view where;

  [[noreturn]] void refuse(std::string what, std::string hint = {}) const {
    throw Error(std::string(where), std::move(what), std::move(hint));
  }

  static std::string get(const fb::String* s) { return s ? s->str() : ""; }

  DType get_type(const fb::String* s) const {
    const auto type = parse_dtype(get(s));
    if (!type) refuse("unknown element type \"" + get(s) + "\"");
    return *type;
  }

  static ShapeExpr get(const format::Expr* e) {
    ShapeExpr expr;
    if (e && e->steps())
      for (const auto* step : *e->steps()) expr.steps.push_back({static_cast<ShapeOp>(step->op()), step->value()});
    return expr;
  }

  ArgumentData get(const format::Argument* a) const {
    return {get(a->name()), get_type(a->type()), get_all<ShapeExpr>(a->shape()), a->is_output()};
  }
  WorkspaceData get(const format::Workspace* w) const {
    return {get(w->name()), get_type(w->type()), get_all<ShapeExpr>(w->shape())};
  }
  KernelArgument get(const format::KernelArgument* a) const {
    return {static_cast<KernelArgumentKind>(a->kind()), a->index(), get(a->expression()), get_type(a->type())};
  }
  LaunchData get(const format::Launch* l) const {
    LaunchData launch;
    launch.kernel = get(l->kernel());
    if (!l->grid() || l->grid()->size() != 3 || !l->block() || l->block()->size() != 3)
      refuse("launch of \"" + launch.kernel + "\": grid and block need three extents");
    for (unsigned i = 0; i < 3; ++i) {
      launch.grid[i] = get(l->grid()->Get(i));
      launch.block[i] = l->block()->Get(i);
    }
    launch.dynamic_lds_bytes = l->dynamic_lds_bytes();
    launch.arguments = get_all<KernelArgument>(l->arguments());
    launch.condition = get(l->condition());
    return launch;
  }
  PromiseData get(const format::Promise* p) const { return {get(p->condition()), get(p->text())}; }
  FunctionData get(const format::Function* f) const {
    return {get(f->name()),
            get_all<std::string>(f->symbols()),
            get_all<ArgumentData>(f->arguments()),
            get_all<WorkspaceData>(f->workspaces()),
            get_all<LaunchData>(f->launches()),
            get_all<PromiseData>(f->promises())};
  }
  CodeObjectData get(const format::CodeObject* o) const {
    CodeObjectData object{get(o->target()), {}};
    if (o->bytes()) object.bytes.assign(o->bytes()->begin(), o->bytes()->end());
    return object;
  }
  SourceData get(const format::Source* s) const { return {get(s->name()), get(s->text())}; }
  Claim get(const format::Claim* c) const { return {static_cast<Verdict>(c->verdict()), get(c->kind()), get(c->what())}; }
  CertificateData get(const format::Certificate* c) const { return {get(c->function()), get(c->target()), get_all<Claim>(c->claims())}; }

  template <class Item, class Table>
  std::vector<Item> get_all(const fb::Vector<fb::Offset<Table>>* tables) const {
    std::vector<Item> items;
    if (!tables) return items;
    items.reserve(tables->size());
    for (const auto* table : *tables) items.push_back(get(table));
    return items;
  }
};

fb::Verifier verifier(const uint8_t* data, size_t size) {
  // The schema nests five tables deep; the table limit bounds the work on a hostile file.
  return fb::Verifier(data, size, /*max_depth=*/16, /*max_tables=*/10'000'000);
}

}  // namespace

std::vector<uint8_t> write_package(const PackageData& package) {
  if (const std::string why = why_invalid(package); !why.empty()) throw Error("package", why);
  size_t large = 0;
  for (const CodeObjectData& object : package.code_objects) large += object.bytes.size();
  for (const SourceData& source : package.sources) large += source.text.size();
  if (large > max_package_bytes)
    throw Error("package", std::to_string(large) + " bytes of code objects and sources, a package holds 2 GiB",
                "write one package per target");

  fb::FlatBufferBuilder contents;
  contents.ForceDefaults(false);
  const auto functions = put_all<fb::Offset<format::Function>>(contents, package.functions, put);
  const auto objects = put_all<fb::Offset<format::CodeObject>>(contents, package.code_objects, put);
  const auto sources = put_all<fb::Offset<format::Source>>(contents, package.sources, put);
  const auto generator = contents.CreateString(package.generator);
  const auto certificates = put_all<fb::Offset<format::Certificate>>(contents, package.certificates, put);
  contents.Finish(format::CreateContents(contents, functions, objects, sources, generator, certificates));

  const std::span<const uint8_t> payload(contents.GetBufferPointer(), contents.GetSize());
  fb::FlatBufferBuilder file(payload.size() + 256);
  file.ForceDefaults(true);
  file.ForceVectorAlignment(payload.size(), 1, payload_alignment);
  const auto bytes = file.CreateVector(payload.data(), payload.size());
  format::FinishSizePrefixedPackageBuffer(
      file, format::CreatePackage(file, package_format_version, xxhash64(payload), bytes));
  return {file.GetBufferPointer(), file.GetBufferPointer() + file.GetSize()};
}

PackageData read_package(std::span<const uint8_t> bytes, std::string_view where) {
  const Reader reader{where};
  constexpr size_t identifier_end = prefix_bytes + sizeof(fb::uoffset_t) + fb::FlatBufferBuilder::kFileIdentifierLength;
  if (bytes.size() < identifier_end)
    reader.refuse("cut short: " + std::to_string(bytes.size()) + " bytes are too few for a package");
  if (!format::SizePrefixedPackageBufferHasIdentifier(bytes.data()))
    reader.refuse("not a Lathe package: the identifier LTHE is missing");
  const size_t size = prefix_bytes + fb::ReadScalar<fb::uoffset_t>(bytes.data());
  if (bytes.size() < size)
    reader.refuse("cut short: " + std::to_string(bytes.size()) + " of " + std::to_string(size) + " bytes");
  if (bytes.size() > size)
    reader.refuse("altered: " + std::to_string(bytes.size() - size) + " bytes follow the package's end");

  // FlatBuffers reads words in place; an embedded or mapped file may start anywhere.
  std::vector<uint64_t> aligned;
  const uint8_t* data = bytes.data();
  if (reinterpret_cast<uintptr_t>(data) % payload_alignment != 0) {
    aligned.resize((size + 15) / 16 * 2);
    std::memcpy(aligned.data(), data, size);
    data = reinterpret_cast<const uint8_t*>(aligned.data());
  }
  auto outer = verifier(data, size);
  if (!format::VerifySizePrefixedPackageBuffer(outer)) reader.refuse("altered: its root table is damaged");
  const format::Package* package = format::GetSizePrefixedPackage(data);
  if (package->format_version() > package_format_version)
    reader.refuse("format version " + std::to_string(package->format_version()) + ", this runtime reads version " +
                      std::to_string(package_format_version),
                  "use a newer runtime, or build the package again");
  if (package->format_version() != package_format_version)
    reader.refuse("altered: format version " + std::to_string(package->format_version()) + " never existed");
  if (!package->payload()) reader.refuse("altered: it has no payload");
  const std::span<const uint8_t> payload(package->payload()->data(), package->payload()->size());
  if (xxhash64(payload) != package->checksum()) reader.refuse("altered: the checksum does not match its contents");

  auto inner = verifier(payload.data(), payload.size());
  if (reinterpret_cast<uintptr_t>(payload.data()) % payload_alignment != 0 ||
      !inner.VerifyBuffer<format::Contents>(nullptr))
    reader.refuse("its contents are malformed");
  const auto* contents = fb::GetRoot<format::Contents>(payload.data());
  PackageData result;
  result.functions = reader.get_all<FunctionData>(contents->functions());
  result.code_objects = reader.get_all<CodeObjectData>(contents->code_objects());
  result.sources = reader.get_all<SourceData>(contents->sources());
  result.generator = Reader::get(contents->generator());
  result.certificates = reader.get_all<CertificateData>(contents->certificates());
  if (const std::string why = why_invalid(result); !why.empty()) reader.refuse(why);
  return result;
}

}  // namespace lathe
