#include "ir/lexer.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace lathe {

Lexer::Lexer(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { advance(); }

std::string Lexer::where(const Token& at) const { return fmt::format("{}:{}:{}", file_, at.line, at.column); }

void Lexer::fail_at(const Token& at, const std::string& what, const std::string& hint) const {
  throw Error(where(at), what, hint);
}

void Lexer::advance() {
  auto step = [&] {
    if (text_[position_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    ++position_;
  };
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#')
      while (position_ < text_.size() && text_[position_] != '\n') step();
    else if (std::isspace(static_cast<unsigned char>(c)))
      step();
    else
      break;
  }
  token_ = {};
  token_.line = line_;
  token_.column = column_;
  if (position_ == text_.size()) return;

  auto at = [&](size_t offset) { return position_ + offset < text_.size() ? text_[position_ + offset] : '\0'; };
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t length = 1;
  if (is_digit(at(0))) {
    token_.kind = Token::Kind::integer;
    while (is_digit(at(length))) ++length;
    if (at(length) == '.' && is_digit(at(length + 1))) {
      token_.kind = Token::Kind::real;
      ++length;
      while (is_digit(at(length))) ++length;
    }
    if ((at(length) == 'e' || at(length) == 'E') &&
        (is_digit(at(length + 1)) || ((at(length + 1) == '-' || at(length + 1) == '+') && is_digit(at(length + 2))))) {
      token_.kind = Token::Kind::real;
      length += 2;
      while (is_digit(at(length))) ++length;
    }
  } else if (is_word(at(0))) {
    token_.kind = Token::Kind::identifier;
    while (is_word(at(length))) ++length;
  } else {
    token_.kind = Token::Kind::symbol;
    for (std::string_view two : {"->", "..", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>"})
      if (text_.substr(position_, 2) == two) length = 2;
    const auto c = static_cast<unsigned char>(at(0));
    if (length == 1 && !std::ispunct(c)) fail(fmt::format("unexpected byte 0x{:02x}", c), "the text is plain ASCII");
  }
  token_.text = std::string(text_.substr(position_, length));
  for (size_t i = 0; i < length; ++i) step();
}

Token Lexer::next() {
  Token result = token_;
  advance();
  return result;
}

bool Lexer::accept(std::string_view text) {
  if (!token_.is(text)) return false;
  advance();
  return true;
}

static std::string shown(const Token& t) {
  return t.kind == Token::Kind::end ? "the end of the text" : "\"" + t.text + "\"";
}

Token Lexer::expect(std::string_view text) {
  if (!token_.is(text)) fail(fmt::format("expected \"{}\", found {}", text, shown(token_)));
  return next();
}

std::string Lexer::identifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) fail(fmt::format("expected {}, found {}", what, shown(token_)));
  return next().text;
}

int64_t Lexer::integer(std::string_view what) {
  const Token start = token_;
  const bool negative = accept("-");
  if (token_.kind != Token::Kind::integer) fail(fmt::format("expected {}, found {}", what, shown(token_)));
  const std::string digits = (negative ? "-" : "") + next().text;
  int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{})
    fail_at(start, fmt::format("{} does not fit 64 bits", digits));
  return value;
}

}  // namespace lathe
