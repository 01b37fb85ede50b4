package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a service manager hears. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServiceManagerTest {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;

  @TempDir Path folder;

  private final SystemCalls linux = Linux.system();
  private final Arena arena = Arena.ofShared();
  private final int heard = linux.socket(AF_UNIX, SOCK_DGRAM, 0);

  @AfterEach
  void close() {
    assertThat(linux.close(heard)).isZero();
    arena.close();
  }

  private String next() {
    MemorySegment buffer = arena.allocate(256);
    int length = (int) linux.read(heard, buffer);
    return new String(
        buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  @Test
  void hearsAtASocketWithAPath() throws IOException {
    String path = folder.resolve("notify").toString();
    assertThat(linux.bind(heard, SocketFile.name(path.getBytes(StandardCharsets.UTF_8), arena)))
        .isZero();

    new ServiceManager(path, Optional.empty()).tell(linux, "READY=1\nSTATUS=serving");

    assertThat(next()).isEqualTo("READY=1\nSTATUS=serving");
  }

  @Test
  void hearsAtAnAbstractSocket() throws IOException {
    String name = "@hghca-" + ProcessHandle.current().pid();
    MemorySegment address = arena.allocate(2L + name.length(), 8);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
    MemorySegment.copy(
        ("\0" + name.substring(1)).getBytes(StandardCharsets.UTF_8),
        0,
        address,
        ValueLayout.JAVA_BYTE,
        2,
        name.length());
    assertThat(linux.bind(heard, address)).isZero();

    new ServiceManager(name, Optional.empty()).tell(linux, "WATCHDOG=1");

    assertThat(next()).isEqualTo("WATCHDOG=1");
  }

  @Test
  void onesThatDoNotHearAreFailures() {
    String path = folder.resolve("nobody").toString();
    assertThatThrownBy(() -> new ServiceManager(path, Optional.empty()).tell(linux, "READY=1"))
        .isInstanceOf(IOException.class)
        .hasMessage("the service manager cannot be told at %s: ENOENT (2), no such file", path);
    String tooLong = "/" + "x".repeat(SocketFile.LONGEST_PATH);
    assertThatThrownBy(() -> new ServiceManager(tooLong, Optional.empty()).tell(linux, "READY=1"))
        .isInstanceOf(IOException.class)
        .hasMessage("the path of NOTIFY_SOCKET is too long");
  }

  @Test
  void environmentNamesItAndItsWatchdog() {
    assertThat(ServiceManager.of(Map.of(), 7)).isEmpty();
    assertThat(ServiceManager.of(Map.of("NOTIFY_SOCKET", "vsock:2:1"), 7)).isEmpty();
    assertThat(watchdog(Map.of())).isEmpty();
    assertThat(watchdog(Map.of("WATCHDOG_USEC", "30000000"))).contains(Duration.ofSeconds(30));
    assertThat(watchdog(Map.of("WATCHDOG_USEC", "30000000", "WATCHDOG_PID", "7")))
        .contains(Duration.ofSeconds(30));
    assertThat(watchdog(Map.of("WATCHDOG_USEC", "30000000", "WATCHDOG_PID", "8"))).isEmpty();
    assertThat(watchdog(Map.of("WATCHDOG_USEC", "soon"))).isEmpty();
  }

  private static Optional<Duration> watchdog(Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(environment);
    all.put("NOTIFY_SOCKET", "/run/notify");
    return ServiceManager.of(all, 7).orElseThrow().watchdog();
  }
}
