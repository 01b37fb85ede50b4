package org.hghca.virtio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.hghca.vfio.Locator;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.junit.jupiter.api.AfterEach;

/** A driver on a {@link FakeDevice}. */
class FakeDeviceFixture {
  /** The device type "network device". */
  static final int NETWORK = 1;

  static final int NO_VECTOR = 0xffff;
  static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

  final FakeDevice fake = new FakeDevice();
  final InProcessFunction function = InProcessFunction.connect(Locator.parse("fake:virtio"), fake);

  @AfterEach
  void closeFunction() {
    function.close();
    assertThat(fake.wrongAccesses).isEmpty();
  }

  VirtioDevice attach() {
    return VirtioDevice.attach(function, NETWORK);
  }

  /** A device without features of its type. */
  VirtioDevice negotiated() {
    VirtioDevice device = attach();
    device.negotiate(0, 0);
    return device;
  }

  static ThrowableAssertAlternative<VirtioException> assertFailure(
      VirtioException.Reason reason, ThrowingCallable call) {
    return assertThatExceptionOfType(VirtioException.class)
        .isThrownBy(call)
        .satisfies(e -> assertThat(e.reason()).isEqualTo(reason))
        .withMessageContaining("fake:virtio");
  }
}
