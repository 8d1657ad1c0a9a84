#include "tools/fuzz/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "runtime/base/error.h"

namespace lathe::fuzz {
namespace {

constexpr size_t journal_bytes = size_t{1} << 18, error_bytes = 4000;

bool write_all(int file, const void* data, size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t n = write(file, at, size);
    if (n <= 0 && errno != EINTR) return false;
    if (n > 0) at += n, size -= static_cast<size_t>(n);
  }
  return true;
}

// How long a process may take: by its own clock, as others use the machine too, and, if it sleeps, by the wall's.
class Deadline {
 public:
  Deadline(pid_t process, double seconds) : seconds_(seconds) {
    if (clock_getcpuclockid(process, &clock_) != 0) clock_ = CLOCK_MONOTONIC;
    start_ = now(clock_);
  }
  bool over() const { return now(clock_) - start_ > seconds_ || now(CLOCK_MONOTONIC) - wall_start_ > 20 * seconds_; }

 private:
  static double now(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
  }
  double seconds_;
  clockid_t clock_{};
  double start_ = 0, wall_start_ = now(CLOCK_MONOTONIC);
};

// False at the end of the file, or past the deadline.
bool read_all(int file, void* data, size_t size, const Deadline* deadline) {
  for (auto* at = static_cast<char*>(data); size > 0;) {
    if (deadline) {
      pollfd p{file, POLLIN, 0};
      const int ready = poll(&p, 1, 200);
      if (ready == 0 && deadline->over()) return false;
      if (ready <= 0) continue;
    }
    const ssize_t n = read(file, at, size);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) at += n, size -= static_cast<size_t>(n);
  }
  return true;
}

bool send(int file, const std::string& text) {
  const uint64_t size = text.size();
  return write_all(file, &size, sizeof size) && write_all(file, text.data(), size);
}

bool receive(int file, std::string& text, const Deadline* deadline) {
  uint64_t size = 0;
  if (!read_all(file, &size, sizeof size, deadline)) return false;
  text.resize(size);
  return read_all(file, text.data(), size, deadline);
}

}  // namespace

Worker::Worker(Service service, double seconds) : service_(std::move(service)), seconds_(seconds) {
  void* memory = mmap(nullptr, journal_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error("fuzz", "no memory for the journal", "free some");
  journal_ = static_cast<char*>(memory);
}

Worker::~Worker() {
  stop();
  munmap(journal_, journal_bytes);
}

void Worker::start() {
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) throw Error("fuzz", std::strerror(errno), "allow more open files");
  errors_ = memfd_create("stderr of the fuzzed process", MFD_CLOEXEC);
  child_ = fork();
  if (child_ < 0) throw Error("fuzz", fmt::format("no process could be started: {}", std::strerror(errno)), "allow more processes");
  if (child_ == 0) {
    close(requests[1]);
    close(answers[0]);
    serve(requests[0], answers[1]);
  }
  close(requests[0]);
  close(answers[1]);
  requests_ = requests[1];
  answers_ = answers[0];
}

void Worker::serve(int requests, int answers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left running when the parent is killed
  dup2(errors_, STDERR_FILENO);
  for (int s : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) signal(s, SIG_DFL);  // whoever forked may catch them
  const Journal journal = [&](const std::string& text) {
    const size_t size = std::min(text.size(), journal_bytes - 1);
    std::memcpy(journal_, text.data(), size);
    journal_[size] = 0;
  };
  for (std::string request; receive(requests, request, nullptr);)
    if (!send(answers, service_(request, journal))) break;
  _exit(0);  // without destructors: the parent's are not the child's to run
}

void Worker::stop() {
  if (child_ == 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = 0;
  close(requests_);
  close(answers_);
  close(errors_);
}

std::string Worker::last_errors() const {
  const off_t size = lseek(errors_, 0, SEEK_END), from = std::max<off_t>(size - static_cast<off_t>(error_bytes), 0);
  std::string text(static_cast<size_t>(size - from), '\0');
  const ssize_t n = pread(errors_, text.data(), text.size(), from);
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

Worker::Answer Worker::ask(const std::string& request) {
  if (child_ == 0) start();
  journal_[0] = 0;
  Answer answer;
  const Deadline deadline(child_, seconds_);
  if (send(requests_, request) && receive(answers_, answer.text, &deadline)) {
    answer.journal = journal_;
    return answer;
  }
  answer.text.clear();
  answer.journal = journal_;
  if (deadline.over()) {
    answer.death = fmt::format("no answer in {} s of its own time", seconds_);
  } else {
    int status = 0;
    waitpid(child_, &status, 0);
    answer.death = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit status {}", WEXITSTATUS(status));
  }
  answer.errors = last_errors();
  stop();
  return answer;
}

}  // namespace lathe::fuzz
