// The commands. Each gives the exit status; results go to stdout, diagnostics to stderr.
#pragma once

#include "guardian/options.hpp"

namespace rg {

int run_command(const Options& options);      ///< 0 clean stop, 2 configuration, 3 cannot run
int apply_command(const Options& options);    ///< 0 every guard holds, 3 one doesn't
int check_command(const Options& options);    ///< 0 holds, 1 drift, 2 configuration, 3 could not tell
int pause_command(const Options& options);    ///< 0, 3
int resume_command(const Options& options);   ///< 0, 3
int release_command(const Options& options);  ///< 0, 3
int status_command(const Options& options);   ///< 0 all hold, 1 not all hold, 3 no guardian answers
int history_command(const Options& options);  ///< 0, 3
int config_command(const Options& options);   ///< 0, 2

}  // namespace rg
