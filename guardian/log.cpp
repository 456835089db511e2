#include "guardian/log.hpp"

#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <chrono>

#include "lib/report/words.hpp"

namespace rg {
namespace {

constexpr std::array<std::string_view, 4> kNames{"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 4> kPriorities{"<7>", "<6>", "<4>", "<3>"};  // sd-daemon(3), for the journal

}  // namespace

void Log::line(LogLevel level, std::string_view text) const {
  if (level < level_) return;
  const auto index = static_cast<std::size_t>(level);
  std::string out;
  if (format_ == LogFormat::json) {
    const boost::json::object object{{"at", rfc3339(std::chrono::system_clock::now())},
                                     {"level", kNames.at(index)},
                                     {"message", boost::json::string_view(text.data(), text.size())}};
    out = boost::json::serialize(object);
  } else {
    static const bool to_journal = std::getenv("JOURNAL_STREAM") != nullptr;
    if (to_journal) out += kPriorities.at(index);
    if (level >= LogLevel::warning) out.append(kNames.at(index)).append(": ");
    out += text;
  }
  out += '\n';
  if (sink_) return sink_(std::move(out));
  (void)!::write(STDERR_FILENO, out.data(), out.size());
}

}  // namespace rg
