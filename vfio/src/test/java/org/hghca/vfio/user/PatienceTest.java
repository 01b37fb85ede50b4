package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A deliberately slow client holds a server no longer than the server's time limit. */
final class PatienceTest {
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** Less than the limit: each byte arrives in time, the message does not. */
  private static final long BETWEEN_BYTES = TimeUnit.MILLISECONDS.toNanos(100);

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final SystemCalls linux = Linux.system();
  private final ServedDevice device = new ServedDevice();

  @TempDir Path directory;
  private String path;
  private UserServer server;

  @BeforeEach
  void serve() {
    path = directory.resolve("server").toString();
    server = UserServer.start(linux, path, Optional.empty(), device, PATIENCE);
  }

  @AfterEach
  void close() {
    server.close();
  }

  /** The next client is served; no well-behaved client was served before. */
  private void assertFree() {
    try (RawClient next = RawClient.greeted(path)) {
      assertThat(next.read(7, 0, 4)).isZero();
    }
  }

  /** Sends a byte at a time until the server has hung up. */
  private void trickle(int socket, MemorySegment bytes) {
    for (long i = 0; i < bytes.byteSize(); i++) {
      if (linux.write(socket, bytes.asSlice(i, 1)) < 0) {
        return;
      }
      LockSupport.parkNanos(BETWEEN_BYTES);
    }
    throw new AssertionError("the server has taken all " + bytes.byteSize() + " bytes");
  }

  private static MemorySegment message(Arena arena, UserCommand command, int payload) {
    try (UserMessage message = new UserMessage(payload, 0)) {
      message.command(1, command, 0, payload);
      return arena
          .allocate(UserMessage.HEADER_BYTES + (long) payload)
          .copyFrom(message.memory().asSlice(0, UserMessage.HEADER_BYTES + (long) payload));
    }
  }

  @Test
  void trickledHeaderDoesNotBlockTheServer() {
    int socket = UserSocket.connect(linux, path);
    try (Arena arena = Arena.ofConfined()) {
      greet(socket, arena);
      trickle(socket, message(arena, UserCommand.DEVICE_RESET, 0));
    } finally {
      linux.close(socket);
    }
    assertFree();
  }

  @Test
  void trickledPayloadDoesNotBlockTheServer() {
    int socket = UserSocket.connect(linux, path);
    try (Arena arena = Arena.ofConfined()) {
      greet(socket, arena);
      MemorySegment message = message(arena, UserCommand.REGION_WRITE, 2000);
      assertThat(linux.write(socket, message.asSlice(0, 20))).isEqualTo(20);
      trickle(socket, message.asSlice(20));
    } finally {
      linux.close(socket);
    }
    assertFree();
  }

  @Test
  void messageReadInPiecesDoesNotBlockTheServer() {
    int bytes = 1 << 20;
    int socket = UserSocket.connect(linux, path);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment buffer = arena.allocate(0xf000);
      greet(socket, arena);
      MemorySegment map = message(arena, UserCommand.DMA_MAP, DmaMap.BYTES);
      map.set(INT, UserMessage.HEADER_BYTES + (long) DmaMap.ARGSZ, DmaMap.BYTES);
      map.set(INT, UserMessage.HEADER_BYTES + (long) DmaMap.FLAGS, DmaMap.FLAG_WRITE);
      map.set(LONG, UserMessage.HEADER_BYTES + (long) DmaMap.LENGTH, bytes);
      call(socket, map, buffer);
      MemorySegment data = arena.allocate(bytes);
      CompletableFuture<Boolean> writing =
          CompletableFuture.supplyAsync(() -> device.bus().write(0, data, 0, bytes));
      long received = 0;
      for (long some = 1; some > 0; some = linux.read(socket, buffer)) {
        received += some;
        LockSupport.parkNanos(BETWEEN_BYTES);
      }
      assertThat(writing.join()).isFalse();
      assertThat(received).isBetween(1000L, (long) bytes);
    } finally {
      linux.close(socket);
    }
    assertFree();
  }

  private void greet(int socket, Arena arena) {
    call(socket, message(arena, UserCommand.VERSION, 4), arena.allocate(1000));
  }

  private void call(int socket, MemorySegment message, MemorySegment buffer) {
    assertThat(linux.write(socket, message)).isEqualTo(message.byteSize());
    assertThat(linux.read(socket, buffer)).isGreaterThanOrEqualTo(UserMessage.HEADER_BYTES);
    assertThat(buffer.get(INT, UserMessage.ERROR)).isZero();
  }
}
