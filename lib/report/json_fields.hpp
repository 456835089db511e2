// Reads the members of a JSON object one by one; whatever is missing or of another type spoils the whole.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/report/words.hpp"

namespace rg {

/// `ok` is the reader's whole answer: it becomes false at the first mistake, and then stays so. Every read gives a
/// usable (empty) value even then. Members that nobody asks for are ignored: a newer version may have written them.
class Fields {
 public:
  Fields(const boost::json::value& value, bool& ok) : object_(value.if_object()), ok_(ok) {
    if (object_ == nullptr) ok_ = false;
  }

  /// A member of any type; JSON's null where it is missing, which is a mistake.
  [[nodiscard]] const boost::json::value& at(std::string_view key) const {
    static const boost::json::value nothing;
    const boost::json::value* found = object_ == nullptr ? nullptr : object_->if_contains(key);
    if (found == nullptr) ok_ = false;
    return found == nullptr ? nothing : *found;
  }
  [[nodiscard]] bool has(std::string_view key) const {
    return object_ != nullptr && object_->if_contains(key) != nullptr && !at(key).is_null();
  }

  [[nodiscard]] std::string_view text(std::string_view key) const { return text_of(at(key)); }
  [[nodiscard]] std::string_view text_or_null(std::string_view key) const {
    return at(key).is_null() ? std::string_view{} : text(key);
  }
  template <class Number>
  [[nodiscard]] Number number(std::string_view key) const {
    boost::system::error_code error;
    const Number number = at(key).to_number<Number>(error);
    if (error) ok_ = false;
    return error ? Number{} : number;
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> number_or_null(std::string_view key) const {
    if (at(key).is_null()) return std::nullopt;
    return number<Number>(key);
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const bool* value = at(key).if_bool();
    if (value == nullptr) ok_ = false;
    return value != nullptr && *value;
  }
  [[nodiscard]] WallTime time(std::string_view key) const { return sure(parse_rfc3339(text(key))); }
  [[nodiscard]] std::optional<WallTime> time_or_null(std::string_view key) const {
    if (at(key).is_null()) return std::nullopt;
    return time(key);
  }
  template <class T>
  [[nodiscard]] T word(std::string_view key) const {
    return sure(from_word<T>(text(key)));
  }
  /// Calls `use` with every element of an array.
  template <class Use>
  void each(std::string_view key, Use use) const {
    const boost::json::array* elements = at(key).if_array();
    if (elements == nullptr) {
      ok_ = false;
      return;
    }
    for (const boost::json::value& element : *elements) use(element);
  }
  [[nodiscard]] Fields object(std::string_view key) const { return {at(key), ok_}; }

  [[nodiscard]] std::string_view text_of(const boost::json::value& value) const {
    const boost::json::string* text = value.if_string();
    if (text == nullptr) ok_ = false;
    return text == nullptr ? std::string_view{} : std::string_view(text->data(), text->size());
  }
  /// The value, or a mistake where there is none.
  template <class T>
  [[nodiscard]] T sure(std::optional<T> value) const {
    if (!value) ok_ = false;
    return value ? std::move(*value) : T{};
  }
  void require(bool condition) const {
    if (!condition) ok_ = false;
  }

 private:
  const boost::json::object* object_;
  bool& ok_;
};

}  // namespace rg
