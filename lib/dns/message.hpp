// The two messages of DNS that are needed to learn whether a server answers: a question, and what came back. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rg::dns {

/// A query with recursion desired (RFC 1035 4.1): the addresses (A, IN) of `name`, a domain name with or without its
/// final dot, or the root `.`. Empty if a label doesn't have 1 to 63 bytes or the whole more than 253.
[[nodiscard]] std::string query(std::uint16_t id, std::string_view name);

enum class Verdict {
  answered,  ///< whatever it says: no such name, no address, truncated, "not implemented"
  refused,   ///< SERVFAIL or REFUSED: this server can't tell, or won't
  not_ours,  ///< no answer to this query: another id or question, no response, cut short
};

/// What `message`, any bytes without the length that TCP has before them, is to `query`, one that query() has made.
[[nodiscard]] Verdict judge(std::string_view message, std::string_view query);

/// The word for the answer code of a message that was refused: "SERVFAIL" or "REFUSED".
[[nodiscard]] std::string_view refusal(std::string_view message);

}  // namespace rg::dns
