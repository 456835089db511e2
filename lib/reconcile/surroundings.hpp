// Between a tree's Seen and the pure decision: values in, values out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/reconcile/pass.hpp"

namespace rg {

/// What a decision needs beside the node itself.
struct Surroundings {
  std::optional<std::string_view> document;
  std::optional<std::string> link_target;
  std::vector<Upstream> upstream;
  int error = 0;  ///< errno of a look at link_to's target that says nothing of it: a limit was reached
};

/// Reads upstream files and link_to's target. Their chains go to guarded.other_chains.
[[nodiscard]] Surroundings look_around(Guarded& guarded, Files& files, bool ours);

/// What stands there can't be told: an I/O error or a limit, and no refusal.
[[nodiscard]] bool is_failed_look(const Seen& seen);

[[nodiscard]] Node as_node(const Seen& seen);

/// Whether what was seen is what we wrote last. Hashes only what is new (`fresh`) and not known by its bytes.
[[nodiscard]] bool is_ours(Guarded& guarded, bool fresh);

/// Whether the link that was seen is one that we made.
[[nodiscard]] bool is_our_link(const Guarded& guarded);

/// The bytes of the last writer's document; nullopt: he left none, or has removed it.
[[nodiscard]] std::optional<std::string_view> standing_document(const Guarded& guarded);

/// `document` and what `bytes` has behind `before`, the file that was made of it. nullopt: it doesn't begin so, or the
/// document has grown by more than 64 KiB in this way.
[[nodiscard]] std::optional<std::string> with_appended(std::optional<std::string_view> document,
                                                       std::string_view before, std::string_view bytes);

/// The same for what was seen: a writer has appended to what we wrote last.
[[nodiscard]] std::optional<std::string> appended_to_ours(const Guarded& guarded);

/// What was seen (guarded.left, where he appended to ours) becomes the last writer's document.
void take_document(Guarded& guarded, bool finished);

/// The document is another one: what source-address-of has stood for since.
void renew_source_addresses(Guarded& guarded);

/// A writer's link was replaced at the guarded name, for whatever reason: that link is what `release` gives back.
void take_link(Guarded& guarded);

[[nodiscard]] Replacement replacement_for(const Guarded& guarded, const Decision& decision);

/// What Memory.written holds after this decision was written.
[[nodiscard]] std::string digest_of_write(const Decision& decision);
[[nodiscard]] std::string digest_of_link(std::string_view text);

}  // namespace rg
