#include "guardian/configuration_reader.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "guardian/keeper.hpp"
#include "guardian/own_descriptors.hpp"
#include "guardian/spawner.hpp"
#include "lib/tree/disk_files.hpp"

namespace rg {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kUnfinished{200}, kGather{20};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

Result<std::unique_ptr<ConfigurationReader>> ConfigurationReader::start(Setup setup) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return errno_error("eventfd");
  std::unique_ptr<ConfigurationReader> reader(new ConfigurationReader(std::move(setup), std::move(wake)));
  auto started = start_thread(reader->thread_, [raw = reader.get()] { raw->run(); });
  if (!started) return started.error();
  return reader;
}

ConfigurationReader::ConfigurationReader(Setup setup, FileDescriptor wake)
    : setup_(std::move(setup)), wake_(std::move(wake)) {}

ConfigurationReader::~ConfigurationReader() {
  if (!thread_.joinable()) return;
  (void)stop_within(milliseconds{0});
  thread_.join();
}

bool ConfigurationReader::stop_within(milliseconds limit) {
  stopping_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  return end_.wait_for(limit) == std::future_status::ready;
}

void ConfigurationReader::ask() {
  asked_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void ConfigurationReader::run() {
  block_signals();
  own_descriptors({wake_.get(), setup_.mailbox->descriptor()});
  if (setup_.watch) begin_watch();
  while (!stopping_) {
    if (asked_.exchange(false)) tell(true);
    if (due_ && *due_ <= Clock::now()) look();
    wait();
  }
  watcher_.reset();  // its descriptor is this thread's
  ended_.set_value();
}

void ConfigurationReader::begin_watch() {
  auto watcher = Watcher::create();
  if (!watcher) return warn("changes of the configuration aren't seen: " + watcher.error().text());
  watcher_.emplace(std::move(*watcher));
  arm();
  due_ = Clock::now();  // what changed before the watch was there gave no event
}

void ConfigurationReader::arm() {
  auto root = open_root("/");
  if (!root) return;
  const std::string pattern = folder_of(setup_.source.path()) + "/config.d/*.toml";
  std::vector<Chain> others;
  const GlobMatch match = expand_glob(*root, pattern, [&](Chain chain) { others.push_back(std::move(chain)); });
  for (const std::string& path : match.paths) others.push_back(walk(*root, path));
  if (auto watched = watcher_->watch(0, walk(*root, setup_.source.path()), others); !watched) {
    warn("some changes of the configuration aren't seen: " + watched.error().text());
  }
}

void ConfigurationReader::wait() {
  std::array<pollfd, 2> polled{pollfd{wake_.get(), POLLIN, 0}, pollfd{-1, POLLIN, 0}};
  if (watcher_) polled[1].fd = watcher_->descriptor();
  int timeout = -1;
  if (due_) {
    const auto left = std::chrono::ceil<milliseconds>(*due_ - Clock::now());
    timeout = static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  if (::poll(polled.data(), polled.size(), timeout) <= 0) return;
  std::uint64_t count = 0;
  if (polled[0].revents != 0) (void)!::read(wake_.get(), &count, sizeof count);
  if (polled[1].revents != 0) read_events();
}

// The configuration's directory may be a busy one: an event wakes this, then events gather for a while.
void ConfigurationReader::read_events() {
  pollfd stop{wake_.get(), POLLIN, 0};
  (void)::poll(&stop, 1, static_cast<int>(kGather.count()));
  bool finished = false;
  bool any = false;
  watcher_->read([&](GuardId, const Change& change) {
    any = true;
    finished = finished || change.how == How::renamed || change.how == How::written || change.how == How::relinked;
  });
  if (!any) return;
  arm();
  due_ = Clock::now() + (finished ? milliseconds{0} : kUnfinished);
}

void ConfigurationReader::look() {
  due_.reset();
  if (setup_.source.being_written()) {
    due_ = Clock::now() + kUnfinished;
    return;
  }
  tell(false);
}

void ConfigurationReader::tell(bool asked) {
  setup_.mailbox->post(
      [tell = setup_.loaded, loaded = setup_.source.load(), asked]() mutable { tell(std::move(loaded), asked); });
}

void ConfigurationReader::warn(std::string what) {
  setup_.mailbox->post([warn = setup_.warn, what = std::move(what)] { warn(what); });
}

}  // namespace rg
