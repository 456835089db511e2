// Values that are no usable address to us and a server to some resolver all the same.
#pragma once

#include <string_view>

namespace rg {

/// True for what inet_aton(3) reads (`127.1`, `0x7f.1`, `010.0.0.1`), for four parts with leading zeros, and for an
/// address with something around it (`[2001:db8::1]:53`, `192.0.2.1:53`, `192.0.2.1%eth0`, `192.0.2.1@x`,
/// `2001:db8::1/64`, `192.0.2.1,192.0.2.2`). False for words and for what nobody can reach (`invalid`, `300.1.1.1`),
/// and for a usable address.
[[nodiscard]] bool is_address_in_other_form(std::string_view word);

}  // namespace rg
