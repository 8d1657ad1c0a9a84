// Events: a point in a stream's order that others can wait for, ask for, and take times from.
#pragma once

#include "hip/queue.h"

struct ihipEvent_t {
  unsigned flags = 0;
  int device = 0;
  std::mutex mutex;
  lathe::emu::WorkRef work;          // of the latest record; null before the first
  // Recorded in a stream that is being captured: the capture, and the nodes that the event stands for.
  std::shared_ptr<lathe::emu::Capture> capture;
  std::vector<hipGraphNode_t> nodes;
};

namespace lathe::emu {

using EventRef = std::shared_ptr<ihipEvent_t>;
EventRef find_event(hipEvent_t);
WorkRef recorded(ihipEvent_t&);
void set_recorded(ihipEvent_t&, const WorkRef&);
// hipEventRecord for other calls that take events (hipExtLaunchKernel); a null event is fine.
hipError_t record_event(const char* call, hipEvent_t, const StreamRef&);

}  // namespace lathe::emu
