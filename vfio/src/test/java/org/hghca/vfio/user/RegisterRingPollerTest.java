package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SealedFile;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The one thread that looks at the rings of all clients: its sleep, its turns, bad clients. */
@Timeout(120)
final class RegisterRingPollerTest {
  private static final int EINVAL = LinuxErrno.EINVAL.number();

  @TempDir Path directory;

  private static Thread poller() {
    return RegisterRingPoller.shared().thread();
  }

  private static void awaitSleep() {
    Served.await(() -> poller() != null && poller().getState() == Thread.State.WAITING);
  }

  /** Nothing is left of the last ring. */
  private static void awaitEnd() {
    Served.await(() -> poller() == null);
    try {
      assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("hghca-registers");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PciFunction open(String path) {
    return PciFunctions.open(Locator.parse("vfio-user:" + path));
  }

  @Test
  void sleepsWhileNothingIsWrittenAndEndsWithTheLastRing() {
    try (Served served = new Served(directory)) {
      awaitEnd();
      try (PciFunction function = open(served.path)) {
        awaitSleep();
        Thread first = poller();
        served.device.calls.clear();
        function.region(0).writeInt(0, 5);
        Served.await(() -> served.device.calls.contains("write BAR0 0x0 4 0x5"));
        awaitSleep();
        assertThat(poller()).isSameAs(first);
      }
      awaitEnd();
    }
  }

  /** Writes, of which each must come, however the server is about to sleep. */
  @Test
  void noWriteIsSleptOver() {
    AtomicLong last = new AtomicLong(-1);
    ServedDevice device =
        new ServedDevice() {
          @Override
          public void write(int bar, long offset, int width, long value) {
            last.set(value);
          }
        };
    String path = directory.resolve("hammer").toString();
    Random random = new Random(5);
    try (UserServer _ = UserServer.start(path, device);
        PciFunction function = open(path)) {
      MmioRegion zero = function.region(0);
      for (long i = 0; i < 30_000; i++) {
        zero.writeLong(0, i);
        long wanted = i;
        Served.await(() -> last.get() == wanted);
        // The poller looks for some 50 us more: this ends around its last look.
        long until = System.nanoTime() + random.nextInt(90_000);
        while (System.nanoTime() - until < 0) {
          Thread.onSpinWait();
        }
      }
    }
  }

  /** A device whose first write waits; counts how many followed. */
  private static final class SlowDevice extends ServedDevice {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch gate = new CountDownLatch(1);
    final AtomicLong executed = new AtomicLong();

    @Override
    public void write(int bar, long offset, int width, long value) {
      begun.countDown();
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      executed.incrementAndGet();
    }
  }

  @Test
  void clientThatWritesMuchLeavesOthersTheirTurn() throws InterruptedException {
    SlowDevice busy = new SlowDevice();
    List<Long> counts = new CopyOnWriteArrayList<>();
    ServedDevice other =
        new ServedDevice() {
          @Override
          public void write(int bar, long offset, int width, long value) {
            counts.add(busy.executed.get());
          }
        };
    String busyPath = directory.resolve("busy").toString();
    String otherPath = directory.resolve("other").toString();
    try (UserServer _ = UserServer.start(busyPath, busy);
        UserServer _ = UserServer.start(otherPath, other);
        ClientRing ring = new ClientRing();
        RawClient _ = ClientRing.connect(busyPath, ring);
        PciFunction function = open(otherPath)) {
      for (int i = 0; i < RegisterRing.ENTRIES; i++) {
        ring.put(0, 0, 8, i);
      }
      RegisterRingPoller.shared().wake();
      busy.begun.await();
      function.region(0).writeInt(0, 1);
      busy.gate.countDown();
      Served.await(() -> !counts.isEmpty());
      assertThat(counts.getFirst()).isLessThanOrEqualTo(32);
      Served.await(() -> busy.executed.get() == RegisterRing.ENTRIES);
    }
  }

  @Test
  void ringsThatCannotBeAreRefused() {
    try (Served served = new Served(directory);
        ClientRing ring = new ClientRing();
        RawClient client = RawClient.connect(served.path)) {
      assertThat(client.greet(ClientRing.GREETING)).isZero();
      int layout = RegisterRing.LAYOUT;
      int small = SealedFile.create(client.linux, "small", RegisterRing.BYTES - 4096);
      int unsealed = client.memory(RegisterRing.BYTES);
      int event = client.event();
      assertThat(ClientRing.give(client, layout)).as("no file").isEqualTo(EINVAL);
      assertThat(ClientRing.give(client, layout, small)).isEqualTo(EINVAL);
      assertThat(ClientRing.give(client, layout, unsealed)).isEqualTo(EINVAL);
      assertThat(ClientRing.give(client, layout, event)).isEqualTo(EINVAL);
      assertThat(ClientRing.give(client, layout, ring.file, ring.file)).isEqualTo(EINVAL);
      assertThat(ClientRing.give(client, layout + 1, ring.file)).isEqualTo(EINVAL);
      client.begin(UserCommand.REGISTER_RING, 3);
      client.out.attach(ring.file);
      assertThat(client.call()).as("too short").isEqualTo(EINVAL);
      Served.await(() -> poller() == null);
      assertThat(ClientRing.give(client, layout, ring.file)).isZero();
      assertThat(ClientRing.give(client, layout, ring.file)).as("a second one").isEqualTo(EINVAL);
      ring.put(0, 8, 4, 9);
      assertThat(client.read(0, 0, 4)).isZero();
      assertThat(served.device.calls).endsWith("write BAR0 0x8 4 0x9", "read BAR0 0x0 4");
      for (int file : new int[] {small, unsealed, event}) {
        client.linux.close(file);
      }
    }
    awaitEnd();
  }

  /** Region, offset and width of a write that no device has; and an entry that does not follow. */
  @Test
  void clientThatWritesWhatCannotBeIsGoneAndNobodyElse() {
    long[][] wrong = {
      {0, 0x1000, 4},
      {0, 0xffc, 8},
      {0, 2, 4},
      {0, -8, 8},
      {0, Long.MIN_VALUE, 8},
      {0, 0, 3},
      {0, 0, 0},
      {0, 0, 16},
      {0, 0, 255},
      {1, 0, 4},
      {6, 0, 4},
      {7, 0, 4},
      {255, 0, 4}
    };
    try (Served other = new Served(directory);
        PciFunction bystander = open(other.path)) {
      Map<String, Integer> before = Descriptors.open();
      ServedDevice device = new ServedDevice();
      String path = directory.resolve("bent").toString();
      try (UserServer server = UserServer.start(path, device)) {
        for (int i = 0; i <= wrong.length; i++) {
          device.calls.clear();
          try (ClientRing ring = new ClientRing();
              RawClient client = ClientRing.connect(path, ring)) {
            if (i == wrong.length) {
              ring.scribble(0x1000 + 32, -1); // the second entry
              ring.put(0, 0x10, 8, i);
            } else {
              ring.put(0, 0x10, 8, i);
              ring.put((int) wrong[i][0], wrong[i][1], (int) wrong[i][2], 1);
              ring.put(0, 0x18, 8, i);
            }
            RegisterRingPoller.shared().wake();
            assertThat(client.channel.receive(client.in)).as("hung up, case %d", i).isFalse();
          }
          Served.await(() -> !server.isConnected());
          assertThat(device.calls)
              .containsExactly(
                  "write BAR0 0x10 8 0x%x".formatted(i), "write configuration 0x4 2 0x0", "reset");
          int value = i;
          bystander.region(0).writeInt(0, value);
          Served.await(() -> other.device.calls.contains("write BAR0 0x0 4 0x%x".formatted(value)));
        }
        try (RawClient next = RawClient.greeted(path)) {
          assertThat(next.read(0, 0, 4)).isZero();
        }
      }
      assertThat(Descriptors.open()).isEqualTo(before);
    }
  }

  @Test
  void deviceIsNotTouchedAfterItsClientIsGone() throws InterruptedException {
    try (Served served = new Served(directory)) {
      for (int round = 0; round < 50; round++) {
        AtomicBoolean stop = new AtomicBoolean();
        try (ClientRing ring = new ClientRing()) {
          RawClient client = ClientRing.connect(served.path, ring);
          Thread writer =
              Thread.ofPlatform()
                  .start(
                      () -> {
                        while (!stop.get()) {
                          if (!ring.isFull()) {
                            ring.put(0, 0, 8, 1);
                            RegisterRingPoller.shared().wake();
                          }
                        }
                      });
          Served.await(() -> ring.taken() > 20);
          client.close(); // as its end does, whatever is in the ring
          served.awaitNobody();
          assertThat(served.device.calls).endsWith("write configuration 0x4 2 0x0", "reset");
          served.device.calls.clear();
          stop.set(true);
          writer.join();
          assertThat(served.device.calls).isEmpty();
        }
      }
    }
    awaitEnd();
  }
}
