// Reference-counted immutable nodes: the handle behind Expr, Stmt and Tensor.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace lathe {

// Base of every node. Nodes are made once by a `make_…` function and never edited after.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

 private:
  template <class T>
  friend class Ref;
  mutable std::atomic<uint32_t> count_{0};
};

// A counted reference to a const node; null when default-made.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(const T* node) : node_(node) { retain(); }
  Ref(const Ref& other) : node_(other.node_) { retain(); }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() { release(); }

  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  const T& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool defined() const { return node_ != nullptr; }
  bool same_as(const Ref& other) const { return node_ == other.node_; }

 private:
  void retain() {
    if (node_) node_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (node_ && node_->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) T::destroy(node_);
  }
  const T* node_ = nullptr;
};

}  // namespace lathe
