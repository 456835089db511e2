// status --json and history --json: exactly the keys, the order and the words of the contract. What there is none of is
// null; an empty text is "" only where a text always belongs (reason, outcome).
#include <boost/json.hpp>

#include "lib/report/json_fields.hpp"
#include "lib/report/status.hpp"
#include "lib/report/text.hpp"

namespace rg {
namespace {

namespace json = boost::json;

// One event stays a line of bounded length whatever a writer puts into the file (1 MiB of it would be read).
constexpr std::size_t kMaxContents = 16U << 10U;

json::string text(std::string_view bytes) { return json::string(utf8(bytes)); }

json::value text_or_null(std::string_view bytes) { return bytes.empty() ? json::value() : json::value(text(bytes)); }

json::value time_or_null(const std::optional<WallTime>& time) {
  return time ? json::value(json::string(rfc3339(*time))) : json::value();
}

template <class Words>
json::array texts(const Words& words) {
  json::array array;
  for (const auto& one : words) array.emplace_back(text(one));
  return array;
}

json::array addresses(const std::vector<Nameserver>& servers) {
  json::array array;
  for (const Nameserver& server : servers) array.emplace_back(text(server.text()));
  return array;
}

json::object guard_object(const GuardStatus& guard) {
  json::array servers, dropped;
  for (const SaidServer& said : guard.servers) {
    servers.push_back(json::object{{"address", text(said.server.text())}, {"origin", word(said.origin)}});
  }
  for (const DroppedServer& one : guard.dropped) {
    dropped.push_back(json::object{{"address", text(one.address)}, {"why", word(one.why)}});
  }
  json::object object;
  object["path"] = text(guard.path);
  object["state"] = word(guard.state);
  object["since"] = rfc3339(guard.since);
  object["reason"] = text(guard.reason);
  object["nameservers"] = addresses(guard.read.nameservers);
  object["search"] = texts(guard.read.search);
  object["options"] = texts(guard.read.options);
  object["servers"] = std::move(servers);
  object["dropped"] = std::move(dropped);
  object["source"] = word(guard.source);
  object["learned"] = json::object{{"nameservers", addresses(guard.learned)},
                                   {"writer", text_or_null(guard.learned_writer)},
                                   {"at", time_or_null(guard.learned_at)}};
  object["rewrites"] = guard.rewrites;
  object["restores"] = guard.restores;
  object["failures"] = guard.failures;
  object["attempt"] = guard.attempt;
  object["last_restore_us"] = guard.last_restore_us ? json::value(*guard.last_restore_us) : json::value();
  object["paused_until"] = time_or_null(guard.paused_until);
  return object;
}

Nameserver server(const Fields& fields, std::string_view address) { return fields.sure(Nameserver::parse(address)); }

std::vector<Nameserver> read_addresses(const Fields& fields, std::string_view key) {
  std::vector<Nameserver> servers;
  fields.each(key, [&](const json::value& one) { servers.push_back(server(fields, fields.text_of(one))); });
  return servers;
}

std::vector<std::string> read_texts(const Fields& fields, std::string_view key) {
  std::vector<std::string> words;
  fields.each(key, [&](const json::value& one) { words.emplace_back(fields.text_of(one)); });
  return words;
}

GuardStatus read_guard(const Fields& fields, bool& ok) {
  GuardStatus guard;
  guard.path = fields.text("path");
  guard.state = fields.word<State>("state");
  guard.since = fields.time("since");
  guard.reason = fields.text("reason");
  guard.read = {read_addresses(fields, "nameservers"), read_texts(fields, "search"), read_texts(fields, "options")};
  fields.each("servers", [&](const json::value& value) {
    const Fields one(value, ok);
    guard.servers.push_back({server(one, one.text("address")), one.word<Origin>("origin")});
  });
  fields.each("dropped", [&](const json::value& value) {
    const Fields one(value, ok);
    guard.dropped.push_back({std::string(one.text("address")), one.word<Why>("why")});
  });
  guard.source = fields.word<Source>("source");
  const Fields learned = fields.object("learned");
  guard.learned = read_addresses(learned, "nameservers");
  guard.learned_writer = learned.text_or_null("writer");
  guard.learned_at = learned.time_or_null("at");
  guard.rewrites = fields.number<std::uint64_t>("rewrites");
  guard.restores = fields.number<std::uint64_t>("restores");
  guard.failures = fields.number<std::uint64_t>("failures");
  guard.attempt = fields.number<std::uint64_t>("attempt");
  guard.last_restore_us = fields.number_or_null<std::int64_t>("last_restore_us");
  guard.paused_until = fields.time_or_null("paused_until");
  return guard;
}

// The kernel tells of the process or it doesn't: what it didn't tell is null.
json::object writer_object(const Writer& writer) {
  return {{"apparent", text_or_null(writer.apparent)},
          {"pid", writer.pid ? json::value(*writer.pid) : json::value()},
          {"comm", text_or_null(writer.comm)},
          {"exe", text_or_null(writer.exe)},
          {"unit", text_or_null(writer.unit)}};
}

json::value contents(const std::optional<std::string>& bytes) {
  return bytes ? json::value(json::string(utf8_excerpt(*bytes, kMaxContents))) : json::value();
}

std::optional<std::string> read_contents(const Fields& fields, std::string_view key) {
  if (fields.at(key).is_null()) return std::nullopt;
  return std::string(fields.text(key));
}

std::optional<json::value> parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return std::nullopt;
  return value;
}

}  // namespace

std::string status_json(const Status& status) {
  json::array guards;
  for (const GuardStatus& guard : status.guards) guards.push_back(guard_object(guard));
  json::object object;
  object["version"] = text(status.version);
  object["pid"] = status.pid;
  object["started"] = rfc3339(status.started);
  object["generation"] = status.generation;
  object["phase"] = word(status.phase);
  object["config"] = json::object{{"path", text_or_null(status.config_path)},
                                  {"sha256", text_or_null(status.config_sha256)},
                                  {"error", text_or_null(status.config_error)}};
  object["guards"] = std::move(guards);
  return json::serialize(object);
}

std::optional<Status> parse_status(std::string_view json) {
  const std::optional<json::value> value = parsed(json);
  if (!value) return std::nullopt;
  bool ok = true;
  const Fields fields(*value, ok);
  Status status;
  status.version = fields.text("version");
  status.pid = fields.number<int>("pid");
  status.started = fields.time("started");
  status.generation = fields.number<std::uint64_t>("generation");
  status.phase = fields.word<Phase>("phase");
  const Fields config = fields.object("config");
  status.config_path = config.text_or_null("path");
  status.config_sha256 = config.text_or_null("sha256");
  status.config_error = config.text_or_null("error");
  fields.each("guards", [&](const json::value& guard) { status.guards.push_back(read_guard(Fields(guard, ok), ok)); });
  if (!ok) return std::nullopt;
  return status;
}

std::string event_json(const Event& event) {
  json::array violations;
  for (const Violation violation : event.violations) violations.emplace_back(word(violation));
  json::object object;
  object["at"] = rfc3339(event.at);
  object["event"] = word(event.kind);
  object["path"] = text_or_null(event.path);
  object["generation"] = event.generation;
  object["how"] = word(event.how);
  object["writer"] = writer_object(event.writer);
  object["violations"] = std::move(violations);
  object["before"] = contents(event.before);
  object["after"] = contents(event.after);
  object["outcome"] = text(event.outcome);
  object["reason"] = text(event.reason);
  object["took_us"] = event.took_us;
  return json::serialize(object);
}

std::optional<Event> parse_event(std::string_view json) {
  const std::optional<json::value> value = parsed(json);
  if (!value) return std::nullopt;
  bool ok = true;
  const Fields fields(*value, ok);
  Event event;
  event.at = fields.time("at");
  event.kind = fields.word<Event::Kind>("event");
  event.path = fields.text_or_null("path");
  event.generation = fields.number<std::uint64_t>("generation");
  event.how = fields.word<How>("how");
  const Fields writer = fields.object("writer");
  event.writer.apparent = writer.text_or_null("apparent");
  event.writer.pid = writer.number_or_null<int>("pid");
  event.writer.comm = writer.text_or_null("comm");
  event.writer.exe = writer.text_or_null("exe");
  event.writer.unit = writer.text_or_null("unit");
  fields.each("violations", [&](const json::value& one) {
    event.violations.push_back(fields.sure(from_word<Violation>(fields.text_of(one))));
  });
  event.before = read_contents(fields, "before");
  event.after = read_contents(fields, "after");
  event.outcome = fields.text("outcome");
  event.reason = fields.text("reason");
  event.took_us = fields.number<std::int64_t>("took_us");
  if (!ok) return std::nullopt;
  return event;
}

}  // namespace rg
