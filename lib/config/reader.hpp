// Reads the tables of a configuration key by key: a table of names and how to read each. Every mistake is collected.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/config/checks.hpp"
#include "lib/config/config_file.hpp"
#include "lib/config/toml_source.hpp"
#include "lib/config/values.hpp"

namespace rg {

class Reader;

/// A key of a table, and how its value gets into a Target.
template <class Target>
struct Key {
  std::string_view name;
  void (*read)(Reader& reader, const TomlNode& node, Target& into);
};

class Reader {
 public:
  /// `belongs` says where else a key belongs that is unknown where it stands; empty: nowhere.
  Reader(std::string file, const Environment& environment, std::string (*belongs)(std::string_view key),
         std::vector<ConfigError>& errors)
      : file_(std::move(file)), environment_(environment), belongs_(belongs), errors_(errors) {}

  void error(Position at, std::string found, std::string expected);

  /// Every key of `table` by the list; an unknown one is an error that names the nearest valid one. `keys`: an array.
  template <class Target, class Keys>
  void table(const TomlNode& node, const Keys& keys, Target& into, const std::string& prefix = {}) {
    const Table* members = std::get_if<Table>(&node.value);
    if (members == nullptr) return error(node.at, node.text, "a table");
    for (const Member& member : *members) {
      const Key<Target>* key = nullptr;
      for (const auto& candidate : keys) {
        if (candidate.name == member.key) key = &candidate;
      }
      if (key == nullptr) {
        unknown_key(member, names(keys), prefix);
        continue;
      }
      key_ = member.key;
      current_ = &marks_[prefix + member.key];
      current_->key = member.at;
      key->read(*this, member.value, into);
    }
  }

  void flag(const TomlNode& node, bool& into);
  void count(const TomlNode& node, std::size_t& into);

  /// A string, its `${NAME}` replaced and then read by `read`. False, and `into` untouched, after an error.
  template <class T>
  bool value(const TomlNode& node, T& into, Read<T> (*read)(std::string_view)) {
    const std::string* raw = std::get_if<std::string>(&node.value);
    if (raw == nullptr) {
      // `settle = 200`: say what is wrong with a 200 in quotes, too.
      const bool scalar = node.text.front() == '`';
      const Read<T> unquoted = read(scalar ? std::string_view(node.text).substr(1, node.text.size() - 2) : "");
      const auto* expected = std::get_if<Expected>(&unquoted);
      error(node.at, node.text,
            "a string" + (scalar ? expected != nullptr ? ": " + expected->text : ", in quotes" : ""));
      return false;
    }
    const std::optional<std::string> text = expanded(node, *raw);
    if (!text) return false;
    Read<T> result = read(*text);
    if (const auto* expected = std::get_if<Expected>(&result)) {
      error(node.at, *text == *raw ? ticked(*text) : ticked(*text) + " (from " + ticked(*raw) + ")", expected->text);
      return false;
    }
    into = std::move(std::get<T>(result));
    return true;
  }

  template <class T>
  void list(const TomlNode& node, std::vector<T>& into, Read<T> (*read)(std::string_view)) {
    const Array* elements = std::get_if<Array>(&node.value);
    if (elements == nullptr) {
      const auto* lone = std::get_if<std::string>(&node.value);
      const std::string instead = lone == nullptr ? "" : ": " + ticked(std::string(key_) + " = [\"" + *lone + "\"]");
      return error(node.at, node.text, "a list of strings" + instead);
    }
    for (const TomlNode& element : *elements) {
      T read_value;
      if (!value(element, read_value, read)) continue;
      into.push_back(std::move(read_value));
      current_->elements.push_back(element.at);
    }
  }

  /// The marks of the guard that is being read.
  [[nodiscard]] const Marks& marks() const { return marks_; }
  void forget_marks() { marks_.clear(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::vector<ConfigError>& errors() { return errors_; }

 private:
  template <class Keys>
  static std::vector<std::string_view> names(const Keys& keys) {
    std::vector<std::string_view> all;
    for (const auto& key : keys) all.push_back(key.name);
    return all;
  }
  void unknown_key(const Member& member, const std::vector<std::string_view>& known, const std::string& prefix);
  std::optional<std::string> expanded(const TomlNode& node, const std::string& raw);

  std::string file_;
  const Environment& environment_;
  std::string (*belongs_)(std::string_view key);
  std::vector<ConfigError>& errors_;
  Marks marks_;
  Mark* current_ = nullptr;  // of the key that is being read
  std::string_view key_;
};

}  // namespace rg
