package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.linux.TamperedCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that does not agree on a version soon makes room for the next one. */
final class HandshakeTest {
  /** Less than the 10 s that a client has for everything else; a busy machine needs some of it. */
  private static final Duration SOON = Duration.ofSeconds(8);

  private static final int MSG_DONTWAIT = 0x40;

  private final SystemCalls linux = Linux.system();

  @TempDir Path directory;
  private Served served;

  @BeforeEach
  void serve() {
    served = new Served(directory);
  }

  @AfterEach
  void close() {
    served.close();
  }

  private void assertNextIsServedSoon() {
    assertNextIsServedSoon(served.path);
  }

  private static void assertNextIsServedSoon(String path) {
    long start = System.nanoTime();
    try (RawClient next = RawClient.greeted(path)) {
      assertThat(next.read(7, 0, 4)).isZero();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
  }

  @Test
  void silentClientIsDropped() {
    int silent = UserSocket.connect(linux, served.path);
    assertNextIsServedSoon();
    linux.close(silent);
  }

  @Test
  void halfAVersionIsSilence() {
    int silent = UserSocket.connect(linux, served.path);
    try (Arena arena = Arena.ofConfined();
        UserMessage version = new UserMessage(4, 0)) {
      version.command(1, UserCommand.VERSION, 0, 4);
      MemorySegment half = arena.allocate(18).copyFrom(version.memory().asSlice(0, 18));
      assertThat(linux.write(silent, half.asSlice(0, 8))).isEqualTo(8);
      LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
      assertThat(linux.write(silent, half.asSlice(8))).isEqualTo(10);
    }
    assertNextIsServedSoon();
    linux.close(silent);
  }

  /** There is always another whole message to read. */
  @Test
  void clientThatSendsEverythingButItsVersionIsDropped() throws InterruptedException {
    String path = directory.resolve("hasty").toString();
    int count = 1000;
    try (UserServer _ =
            UserServer.start(
                hasty(), path, Optional.empty(), new ServedDevice(), UserTimeouts.CLIENT);
        Arena arena = Arena.ofShared();
        UserMessage reset = new UserMessage(0, 0)) {
      int socket = UserSocket.connect(linux, path);
      reset.command(1, UserCommand.DEVICE_RESET, 0, 0);
      MemorySegment resets = arena.allocate((long) count * UserMessage.HEADER_BYTES);
      for (long i = 0; i < count; i++) {
        MemorySegment.copy(
            reset.memory(), 0, resets, i * UserMessage.HEADER_BYTES, UserMessage.HEADER_BYTES);
      }
      MemorySegment replies = arena.allocate(1 << 16);
      Thread writing = repeating(() -> linux.write(socket, resets));
      Thread reading = repeating(() -> linux.read(socket, replies));
      assertNextIsServedSoon(path);
      writing.join();
      reading.join();
      linux.close(socket);
    }
  }

  /** The client is never too slow for the server, which finds each message and room for a reply. */
  private SystemCalls hasty() {
    TamperedCalls tampered = new TamperedCalls();
    tampered.answer(
        "recvmsg",
        a -> linux.recvmsg((int) a[0], (MemorySegment) a[1], (int) a[2] & ~MSG_DONTWAIT));
    tampered.answer(
        "sendmsg",
        a -> linux.sendmsg((int) a[0], (MemorySegment) a[1], (int) a[2] & ~MSG_DONTWAIT));
    return tampered.calls;
  }

  /** Repeats a call until the server has hung up. */
  private static Thread repeating(LongSupplier call) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              while (call.getAsLong() > 0) {
                // Again.
              }
            });
  }

  @Test
  void clientMayBeSilentAfterItsVersion() {
    try (RawClient client = RawClient.greeted(served.path)) {
      long until = System.nanoTime() + UserTimeouts.HANDSHAKE.plusMillis(500).toNanos();
      while (System.nanoTime() < until) {
        LockSupport.parkNanos(until - System.nanoTime());
      }
      assertThat(client.read(7, 0, 4)).isZero();
    }
  }
}
