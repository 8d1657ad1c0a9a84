#include "runtime/stream.h"

#include "tests/runtime/test_package.h"

using namespace lathe;

TEST_CASE("streams and events wrap HIP's and give their handles") {
  const Environment hip("LATHE_HIP_LIBRARY", FAKE_HIP);
  FakeHip& control = fake(FAKE_HIP);
  const Device gpu = Device::open("hip:0");
  {
    const Stream stream = Stream::create(gpu);
    CHECK(stream.raw() != nullptr);
    CHECK(control.live_streams == 1);
    const Event start = Event::create(gpu), stop = Event::create(gpu);
    start.record(stream);
    stop.record();
    stream.wait(stop);
    CHECK(control.calls["hipStreamWaitEvent"] == 1);
    control.faults["hipEventQuery"] = {0, 600};  // hipErrorNotReady
    CHECK_FALSE(start.is_done());
    CHECK(start.is_done());
    stop.synchronize();
    CHECK(elapsed_ms(start, stop) == 1.5f);
    int foreign = 0;
    CHECK(Stream::wrap(gpu, &foreign).raw() == &foreign);
    control.faults["hipStreamSynchronize"] = {0, 719};
    CHECK(error_message([&] { stream.synchronize(); }) ==
          "hipStreamSynchronize, hip:0: hipErrorLaunchFailure (719): something went wrong");
  }
  CHECK(control.live_streams == 0);
  CHECK(control.live_events == 0);
}
