// What is said where an exception leaves a thread, which is a bug (docs/contributing.md). libstdc++'s own handler of
// this name brings the demangler along, 48 KB of a static binary; it stands alone in its object file, so with a
// definition here it isn't linked. Type names stay as the compiler spells them (c++filt -t reads them). Static builds
// only.
#include <exception>

#ifdef __GLIBCXX__
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <typeinfo>

namespace __gnu_cxx {
void __verbose_terminate_handler() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    std::fputs("resolv-guardian: terminated without an active exception\n", stderr);
    std::abort();
  }
  try {
    throw;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resolv-guardian: terminated by %s: %s\n", type->name(), error.what());
  } catch (...) {
    std::fprintf(stderr, "resolv-guardian: terminated by %s\n", type->name());
  }
  std::abort();
}
}  // namespace __gnu_cxx
#endif
