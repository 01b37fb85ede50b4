package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramSocket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

/** What the check after each test finds. */
class NothingLeftTest {

  @Test
  void socketsAreFound() throws Exception {
    try (DatagramSocket _ = new DatagramSocket()) {
      assertThat(NothingLeft.left()).singleElement().asString().startsWith("socket:");
    }
  }

  @Test
  void threadsAreFoundByTheirNames() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> threads =
        List.of(
            Thread.ofVirtual().name("hghca-cm-virtual").start(() -> await(end)),
            Thread.ofPlatform().name("hghca-cm-platform").start(() -> await(end)));
    assertThat(String.join("", NothingLeft.left()))
        .contains("hghca-cm-virtual", "hghca-cm-platform");
    end.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void devicesInUseAreFound() {
    try (Context context = RdmaDevices.open("model:left")) {
      SharedDevice device = SharedDevice.of(context);
      assertThat(NothingLeft.left()).contains("users of 1 devices");
      device.release();
    }
  }

  /** A device that is open has threads. */
  @Test
  void openDevicesAreFound() {
    try (Context _ = RdmaDevices.open("model:left")) {
      assertThat(NothingLeft.left()).isNotEmpty();
    }
  }
}
