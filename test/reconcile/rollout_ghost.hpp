// A Rollout, the lanes that answer it, and a ghost that keeps its own books of who was asked and who said what. The
// ghost believes none of Rollout's flags: `broken` names the first of the promises that an order or an answer
// broke.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/reconcile/rollout.hpp"

namespace rg::test {

/// Something that was asked, and whether the answer is still to come.
struct Question {
  std::uint64_t ticket = 0;  ///< 0: not asked, or no answer to it counts any more
  std::uint64_t stale = 0;   ///< an older one, whose answer may still come
  bool open = false;         ///< no answer yet
  bool late = false;         ///< and its deadline has passed
  bool asked = false;        ///< it would be a surprise to be asked again
};

struct GhostFile : Question {
  std::string path;
  std::size_t place = 0;
  bool there = false;    ///< a guard's own file, or one that the glob matched when it was last listed
  bool dropped = false;  ///< no longer matched, and the order to say so is still to come
  bool paused = false, looked = false, held = false, failed = false;
  std::uint64_t since =
      0;  ///< since when it has been verified in this attempt without a word to the contrary; 0: isn't
};

struct GhostPlace {
  Rollout::Guard guard;
  Question gate, list;
  bool gate_ok = false, list_ok = false;
};

struct Input {
  enum class Kind {
    say,
    stale,
    deadline,
    pause,
    probe,
    stale_probe,
    list,
    stale_list,
    list_deadline,  // of one file or place
    cancel,
    reload,
    crash,
    wait,
    far
  };
  Kind kind{};
  std::size_t which = 0;  ///< of files or of places
  int how = 0;            ///< what is said; which of the glob's files are there, as bits
};
std::string to_string(const Input& input);

class Ghost {
 public:
  /// Each glob may come to match `matches` files.
  Ghost(const std::vector<Rollout::Guard>& guards, std::size_t matches);

  void apply(const Input& input);
  [[nodiscard]] std::vector<Input> inputs() const;
  /// Why `reconciling` isn't reached if everything answers from here on, and that it holds; empty: it is.
  [[nodiscard]] std::string stuck() const;
  /// Equal for states that can't be told apart by what comes next. Names of a glob's files, counters and times are left
  /// out.
  [[nodiscard]] std::string key() const;

  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] const Rollout& rollout() const { return rollout_; }
  [[nodiscard]] const std::vector<GhostFile>& files() const { return files_; }

 private:
  using Said = Rollout::Said;
  using Order = Rollout::Order;
  void promise(bool kept, const char* what);
  void say(GhostFile& file, Said what);
  void late(GhostFile& file);
  void pause(GhostFile& file, bool is_paused);
  void probe(std::size_t index, bool answered);
  void list(std::size_t index, int matched);
  void list_late(std::size_t index);
  void begin(std::uint64_t generation);
  void attempt_failed(std::size_t index, bool counts, std::optional<Time> again, bool backs_off);

  void step();
  void begin_attempt();
  void obey(const Order& order);
  void look(GhostFile& file, const Order& order);
  void look_back();
  void compare();
  void entered_reconciling();
  void ask(Question& question, const Order& order);
  void help();
  void apply_to_all(Input::Kind kind);
  [[nodiscard]] GhostFile* find(const std::string& path);
  [[nodiscard]] bool lifted(std::size_t index) const;
  [[nodiscard]] bool verified(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> first_open() const;
  [[nodiscard]] std::vector<GhostFile*> files_of(std::size_t index);
  [[nodiscard]] std::string key_of(const GhostFile& file) const;

  Rollout rollout_;
  Time now_ = Time{} + std::chrono::hours{1};
  std::vector<GhostFile> files_;  // by place
  std::vector<GhostPlace> places_;
  std::uint64_t clock_ = 0, last_ticket_ = 0, attempt_ = 0;
  std::optional<Time> again_;  // the attempt has failed, the next one begins then
  std::size_t failed_at_ = 0;
  Phase phase_ = Phase::updating;
  std::string broken_;
};

}  // namespace rg::test
