// What a policy may say and hardly anybody means.
#pragma once

#include <string>
#include <vector>

#include "lib/config/checks.hpp"
#include "lib/config/config_file.hpp"
#include "lib/policy/policy.hpp"

namespace rg {

/// Options that no resolver is known to read, link-local servers without a zone. At most kMaxErrors are collected.
void warn_of_guard(const Policy& policy, const Marks& marks, const std::string& file,
                   std::vector<ConfigError>& warnings);

}  // namespace rg
