#include "lib/store/memory_json.hpp"

#include <boost/json.hpp>

#include "lib/report/json_fields.hpp"

namespace rg::store {
namespace {

namespace json = boost::json;

constexpr int kVersion = 1;

// JSON holds Unicode, files hold bytes, and exactly these bytes must come back: each byte becomes the code point of the
// same number. A control character that JSON would spend six bytes on (\u0000) becomes U+0100 and up: so the largest
// document that is read at all (1 MiB) takes at most twice its size.
bool is_costly(unsigned char byte) {
  return byte < 0x20 && byte != '\b' && byte != '\f' && byte != '\n' && byte != '\r' && byte != '\t';
}

json::string encoded(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const unsigned point = is_costly(byte) ? 0x100U + byte : byte;
    if (point < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0U | point >> 6U);
      text += static_cast<char>(0x80U | (point & 0x3fU));
    }
  }
  return json::string(text);
}

// `text` is valid UTF-8: the parser saw to that.
std::optional<std::string> decoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned point = static_cast<unsigned char>(text[i]);
    if (point >= 0xe0) return std::nullopt;
    if (point >= 0x80) point = (point & 0x1fU) << 6U | (static_cast<unsigned char>(text[++i]) & 0x3fU);
    if (point >= 0x120) return std::nullopt;
    bytes += static_cast<char>(point & 0xffU);
  }
  return bytes;
}

std::string bytes(const Fields& fields, std::string_view key) { return fields.sure(decoded(fields.text(key))); }

std::string digest(const Fields& fields, std::string_view key) {
  std::string text(fields.text(key));
  fields.require(text.empty() ||
                 (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos));
  return text;
}

constexpr std::string_view kKinds[] = {"absent", "file", "link"};

json::value document_value(const std::optional<Document>& document) {
  if (!document) return nullptr;
  return json::object{{"kind", kKinds[static_cast<std::size_t>(document->kind)]},
                      {"link_target", encoded(document->link_target)},
                      {"bytes", encoded(document->bytes)},
                      {"mode", document->mode},
                      {"uid", document->uid},
                      {"gid", document->gid},
                      {"label", encoded(document->label)},
                      {"finished", document->finished},
                      {"removed", document->removed}};
}

std::optional<Document> read_document(const Fields& fields) {
  if (fields.at("document").is_null()) return std::nullopt;
  const Fields members = fields.object("document");
  Document document;
  const std::string_view kind = members.text("kind");
  std::size_t number = 0;
  while (number < std::size(kKinds) && kKinds[number] != kind) ++number;
  members.require(number < std::size(kKinds));
  document.kind = static_cast<Document::Kind>(number);
  document.link_target = bytes(members, "link_target");
  document.bytes = bytes(members, "bytes");
  document.mode = members.number<std::uint32_t>("mode");
  members.require(document.mode <= 07777);
  document.uid = members.number<std::uint32_t>("uid");
  document.gid = members.number<std::uint32_t>("gid");
  document.label = bytes(members, "label");
  document.finished = members.flag("finished");
  document.removed = members.flag("removed");
  return document;
}

std::string text_of(const Nameserver& server) { return server.text(); }
const std::string& text_of(const std::string& word) { return word; }
void from_text(std::string_view text, std::optional<Nameserver>& server) { server = Nameserver::parse(text); }
void from_text(std::string_view text, std::optional<std::string>& word) { word = text; }

template <class T>
json::object last_good_object(const LastGood<T>& last_good) {
  json::array values;
  for (const T& value : last_good.values) values.emplace_back(encoded(text_of(value)));
  // Nanoseconds since 1970, exactly: what is read back equals what was stored.
  const auto at = std::chrono::duration_cast<std::chrono::nanoseconds>(last_good.at.time_since_epoch());
  return {{"values", std::move(values)}, {"writer", encoded(last_good.writer)}, {"at_ns", std::int64_t{at.count()}}};
}

template <class T>
LastGood<T> read_last_good(const Fields& fields) {
  LastGood<T> last_good;
  fields.each("values", [&](const json::value& one) {
    std::optional<T> value;
    from_text(fields.sure(decoded(fields.text_of(one))), value);
    last_good.values.push_back(fields.sure(std::move(value)));
  });
  last_good.writer = bytes(fields, "writer");
  const std::chrono::nanoseconds at{fields.number<std::int64_t>("at_ns")};
  fields.require(at.count() >= 0);  // RFC 3339 couldn't tell of it
  last_good.at = WallTime(std::chrono::duration_cast<WallTime::duration>(at));
  return last_good;
}

std::vector<Nameserver> read_addresses(const Fields& fields, std::string_view key) {
  std::vector<Nameserver> servers;
  fields.each(key, [&](const json::value& one) {
    servers.push_back(fields.sure(Nameserver::parse(fields.sure(decoded(fields.text_of(one))))));
  });
  return servers;
}

Memory read_memory(const Fields& fields) {
  Memory memory;
  memory.document = read_document(fields);
  memory.written = digest(fields, "written");
  memory.intended = digest(fields, "intended");
  memory.nameservers = read_last_good<Nameserver>(fields.object("nameservers"));
  memory.search = read_last_good<std::string>(fields.object("search"));
  memory.options = read_last_good<std::string>(fields.object("options"));
  if (fields.has("source_addresses")) memory.source_addresses = read_addresses(fields, "source_addresses");
  memory.machine_id = bytes(fields, "machine_id");
  memory.held_label = bytes(fields, "held_label");
  return memory;
}

// Parses `text`, checks its version (and path, where one is given), and reads the rest with `read`.
template <class T, class Read>
Parsed<T> parsed(std::string_view text, const std::string* guard_path, Read read) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return {{}, "it is no JSON (" + error.message() + ")"};
  bool ok = true;
  const Fields fields(value, ok);
  const auto version = fields.number<std::int64_t>("version");
  if (!ok) return {{}, "it has no version"};
  if (version != kVersion) return {{}, "its version " + std::to_string(version) + " is unknown"};
  if (guard_path != nullptr && bytes(fields, "path") != *guard_path) return {{}, "it belongs to another path"};
  T result = read(fields);
  if (!ok) return {{}, "a value in it is missing or of a wrong kind"};
  return {std::move(result), {}};
}

}  // namespace

std::string memory_json(const std::string& guard_path, const Memory& memory) {
  json::object object;
  object["version"] = kVersion;
  object["path"] = encoded(guard_path);
  object["document"] = document_value(memory.document);
  object["written"] = encoded(memory.written);
  object["intended"] = encoded(memory.intended);
  object["nameservers"] = last_good_object(memory.nameservers);
  object["search"] = last_good_object(memory.search);
  object["options"] = last_good_object(memory.options);
  json::array addresses;
  for (const Nameserver& server : memory.source_addresses) addresses.emplace_back(encoded(server.text()));
  object["source_addresses"] = std::move(addresses);
  object["machine_id"] = encoded(memory.machine_id);
  object["held_label"] = encoded(memory.held_label);
  return json::serialize(object) + "\n";
}

Parsed<Memory> parse_memory(std::string_view json, const std::string& guard_path) {
  return parsed<Memory>(json, &guard_path, read_memory);
}

std::string intent_json(const std::string& guard_path, const std::string& digest) {
  return json::serialize(
             json::object{{"version", kVersion}, {"path", encoded(guard_path)}, {"digest", encoded(digest)}}) +
         "\n";
}

Parsed<std::string> parse_intent(std::string_view json, const std::string& guard_path) {
  return parsed<std::string>(json, &guard_path, [](const Fields& fields) { return digest(fields, "digest"); });
}

std::string generation_json(std::uint64_t generation) {
  return json::serialize(json::object{{"version", kVersion}, {"generation", generation}}) + "\n";
}

Parsed<std::uint64_t> parse_generation(std::string_view json) {
  return parsed<std::uint64_t>(json, nullptr, [](const Fields& fields) {
    (void)fields.number<std::int64_t>("generation");  // no further: the next one must not be 0 again
    return fields.number<std::uint64_t>("generation");
  });
}

}  // namespace rg::store
