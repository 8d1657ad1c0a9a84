// A process that serves requests and may die of one: what crashes or hangs the compiler must not end the hunt for it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace lathe::fuzz {

// A note in memory that outlives the process that wrote it: what it was at when it died.
using Journal = std::function<void(const std::string&)>;

class Worker {
 public:
  // What the process does with a request; what it returns is the answer.
  using Service = std::function<std::string(const std::string& request, const Journal& journal)>;
  // `seconds`: how long one request may take.
  Worker(Service service, double seconds);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  struct Answer {
    std::string text;     // what the service returned; empty when it died
    std::string death;    // "", or what ended the process: "signal 11", "no answer in 20 s", …
    std::string errors;   // what it printed on standard error before it died
    std::string journal;  // its last note
  };
  // Starts the process when there is none, in this process's present state: so before it has threads.
  Answer ask(const std::string& request);

 private:
  void start();
  void stop();
  [[noreturn]] void serve(int requests, int answers);
  std::string last_errors() const;

  Service service_;
  double seconds_;
  pid_t child_ = 0;
  int requests_ = -1, answers_ = -1, errors_ = -1;
  char* journal_ = nullptr;
};

}  // namespace lathe::fuzz
