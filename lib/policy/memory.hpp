// What is remembered of one guarded path from pass to pass and over restarts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/resolv/nameserver.hpp"

namespace rg {

using WallTime = std::chrono::system_clock::time_point;

/// The three lists of a resolv.conf.
struct Lists {
  std::vector<Nameserver> nameservers;
  std::vector<std::string> search;
  std::vector<std::string> options;
  friend bool operator==(const Lists&, const Lists&) = default;
};

/// What the last writer left where we write: enough to give it back exactly.
struct Document {
  enum class Kind { absent, file, link };
  Kind kind = Kind::absent;
  std::string link_target;    ///< kind link: the text of the link
  std::string bytes;          ///< the content, read through the link if there is one
  std::uint32_t mode = 0644;  ///< permission bits
  std::uint32_t uid = 0, gid = 0;
  std::string label;     ///< security.selinux, empty if none
  bool finished = true;  ///< false: its writer had it open; the lists aren't good for later
  /// Its writer removed it since, or the target of our link has told newer servers: its lists are gone, what was there
  /// can be given back.
  bool removed = false;
  friend bool operator==(const Document&, const Document&) = default;
};

/// One list as it was last learned, not empty.
template <class T>
struct LastGood {
  std::vector<T> values;
  std::string writer;  ///< apparent_writer() of its document
  WallTime at{};
  friend bool operator==(const LastGood&, const LastGood&) = default;
};

struct Memory {
  std::optional<Document> document;  ///< of the last writer
  std::string written;               ///< SHA-256 (hex) of the bytes we wrote last; empty: none
  std::string intended;  ///< SHA-256 of bytes that were about to be written when this was stored; empty: none
  LastGood<Nameserver> nameservers;
  LastGood<std::string> search, options;
  /// What source-address-of has stood for since the document was taken: where it is a copy of our own file, as an
  /// editor makes one, they aren't the writer's servers.
  std::vector<Nameserver> source_addresses;
  std::string machine_id;  ///< of the machine that learned the lists; empty: it had none
  std::string held_label;  ///< security.selinux when the file last held
  friend bool operator==(const Memory&, const Memory&) = default;
};

}  // namespace rg
