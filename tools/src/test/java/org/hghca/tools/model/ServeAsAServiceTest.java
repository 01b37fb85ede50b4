package org.hghca.tools.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.hghca.linux.Linux;
import org.hghca.linux.SocketFile;
import org.hghca.linux.SystemCalls;
import org.hghca.tools.OwnProgram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code model serve} beneath a service manager. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServeAsAServiceTest {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM = 2;

  @TempDir Path folder;

  private final SystemCalls linux = Linux.system();

  private String next(int heard, Arena arena) {
    MemorySegment buffer = arena.allocate(256);
    int length = (int) linux.read(heard, buffer);
    return new String(
        buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  @Test
  void managerHearsThatItIsReadyThatItWorksAndThatItStops() throws Exception {
    Path notify = folder.resolve("notify");
    Path socket = folder.resolve("a.sock");
    int heard = linux.socket(AF_UNIX, SOCK_DGRAM, 0);
    ProcessBuilder builder =
        new ProcessBuilder(OwnProgram.command("model", "serve", "--socket", socket.toString()));
    builder.environment().put("NOTIFY_SOCKET", notify.toString());
    builder.environment().put("WATCHDOG_USEC", "100000");
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("out").toFile());
    try (Arena arena = Arena.ofConfined()) {
      byte[] path = notify.toString().getBytes(StandardCharsets.UTF_8);
      assertThat(linux.bind(heard, SocketFile.name(path, arena))).isZero();
      Process process = builder.start();
      try {
        assertThat(next(heard, arena)).isEqualTo("READY=1\nSTATUS=serving " + socket);
        assertThat(socket).exists();
        assertThat(next(heard, arena)).isEqualTo("WATCHDOG=1");
        assertThat(next(heard, arena)).isEqualTo("WATCHDOG=1");
        process.toHandle().destroy();
        String last = next(heard, arena);
        while (last.equals("WATCHDOG=1")) {
          last = next(heard, arena);
        }
        assertThat(last).isEqualTo("STOPPING=1");
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      } finally {
        process.destroyForcibly();
      }
    } finally {
      linux.close(heard);
    }
  }
}
