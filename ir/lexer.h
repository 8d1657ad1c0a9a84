// Tokens of the IR's text, with their places. Comments run from # to the end of the line.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace lathe {

struct Token {
  enum class Kind { identifier, integer, real, symbol, end } kind = Kind::end;
  std::string text;  // of a real or integer as written
  int line = 1, column = 1;
  bool is(std::string_view t) const { return kind != Kind::end && text == t; }
};

// One token of look-ahead over `text`. `file` names the source in errors, as file:line:column.
class Lexer {
 public:
  Lexer(std::string_view text, std::string file);

  const Token& peek() const { return token_; }
  Token next();                              // returns the current token and moves on
  bool accept(std::string_view text);        // moves on when the current token is `text`
  Token expect(std::string_view text);       // Error unless it is
  std::string identifier(std::string_view what);
  int64_t integer(std::string_view what);    // may begin with a minus
  bool at_end() const { return token_.kind == Token::Kind::end; }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const { fail_at(token_, what, hint); }
  [[noreturn]] void fail_at(const Token& at, const std::string& what, const std::string& hint = {}) const;
  std::string where(const Token& at) const;

 private:
  void advance();
  std::string_view text_;
  std::string file_;
  size_t position_ = 0;
  int line_ = 1, column_ = 1;
  Token token_;
};

}  // namespace lathe
