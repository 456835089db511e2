// Catch2 by the header that the installed version has.
#pragma once

#ifdef RG_CATCH2_V2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
#endif
