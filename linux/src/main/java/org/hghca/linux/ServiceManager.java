package org.hghca.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Who has started this process and wants to know how it is, as systemd does: {@code sd_notify(3)},
 * {@code sd_watchdog_enabled(3)}.
 *
 * @param socket the socket for datagrams; an abstract one begins with @
 * @param watchdog how often it wants to hear of this process at least, if it watches over it
 */
public record ServiceManager(String socket, Optional<Duration> watchdog) {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;
  private static final int SOCK_CLOEXEC = 0x8_0000;

  /**
   * Whom the environment of this process names.
   *
   * @param pid of this process: the watchdog may be that of another one
   */
  public static Optional<ServiceManager> of(Map<String, String> environment, long pid) {
    String socket = environment.getOrDefault("NOTIFY_SOCKET", "");
    if (!socket.startsWith("/") && !socket.startsWith("@")) {
      return Optional.empty();
    }
    String watched = environment.get("WATCHDOG_PID");
    Optional<Duration> watchdog =
        watched == null || watched.equals(Long.toString(pid))
            ? micros(environment.get("WATCHDOG_USEC"))
            : Optional.empty();
    return Optional.of(new ServiceManager(socket, watchdog));
  }

  private static Optional<Duration> micros(String text) {
    return Optional.ofNullable(text)
        .filter(digits -> digits.matches("[1-9]\\d{0,14}"))
        .map(digits -> Duration.ofNanos(Long.parseLong(digits) * 1000));
  }

  /**
   * Tells it something, such as {@code READY=1}, in lines.
   *
   * @throws IOException saying why it does not hear
   */
  public void tell(SystemCalls system, String lines) throws IOException {
    int descriptor = checked(system.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    try (Arena arena = Arena.ofConfined()) {
      checked(system.connect(descriptor, name(arena)));
      MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, utf8(lines));
      checked((int) system.write(descriptor, text));
    } finally {
      system.close(descriptor);
    }
  }

  /** An abstract name begins with a zero and has none behind it. */
  private MemorySegment name(Arena arena) throws IOException {
    byte[] bytes = utf8(socket);
    if (bytes.length > SocketFile.LONGEST_PATH) {
      throw new IOException("the path of NOTIFY_SOCKET is too long");
    }
    MemorySegment name = SocketFile.name(bytes, arena);
    if (socket.startsWith("@")) {
      name.set(ValueLayout.JAVA_BYTE, Short.BYTES, (byte) 0);
      return name.asSlice(0, name.byteSize() - 1);
    }
    return name;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private int checked(int result) throws IOException {
    if (result < 0) {
      throw new IOException(
          "the service manager cannot be told at %s: %s"
              .formatted(socket, LinuxErrno.describe(result)));
    }
    return result;
  }
}
