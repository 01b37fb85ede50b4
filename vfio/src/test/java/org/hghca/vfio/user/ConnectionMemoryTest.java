package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A connection's memory is freed at its end, not by the next collection. {@code
 * -Dhghca.connections=} is the number of connections to measure.
 */
@Timeout(600)
final class ConnectionMemoryTest {
  private static final Integer ASKED = Integer.getInteger("hghca.connections");
  private static final int CONNECTIONS = ASKED == null ? 200 : ASKED;

  /** The longest message to a server is longer by its headers. */
  private static final int LONG = 1 << 20;

  /**
   * The most that the measured connections may add; together they send as many MiB as their number.
   */
  private static final long MOST_KILOBYTES = 64 << 10;

  @TempDir Path directory;

  private static long residentKilobytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("RssAnon:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
        .sum();
  }

  /** Sends a message of 1 MiB, which is refused. */
  private static void sendLong(RawClient client) {
    client.beginAccess(UserCommand.REGION_WRITE, 2, 0, LONG, LONG);
    assertThat(client.call()).isPositive();
  }

  @Test
  void connectionThatSendsAMebibyteLeavesNothing() throws IOException {
    try (Served served = new Served(directory)) {
      for (int i = 0; i < 20; i++) {
        connectAndSend(served);
      }
      long before = residentKilobytes();
      for (int i = 0; i < CONNECTIONS; i++) {
        connectAndSend(served);
      }
      long grown = residentKilobytes() - before;
      if (ASKED != null) {
        System.out.printf(
            "%d connections that send 1 MiB each: %d KiB resident before, %d KiB more after%n",
            CONNECTIONS, before, grown);
      }
      assertThat(grown).isLessThan(MOST_KILOBYTES);
    }
  }

  private static void connectAndSend(Served served) {
    try (RawClient client = RawClient.greeted(served.path)) {
      sendLong(client);
    }
    served.awaitNobody();
    served.device.calls.clear();
  }

  @Test
  void closedMessageIsInaccessible() {
    UserMessage message = new UserMessage(LONG, 0);
    MemorySegment first = message.memory();
    message.receivePayload(LONG / 2);
    MemorySegment second = message.memory();
    assertThat(first.scope().isAlive()).as("what it has outgrown").isFalse();
    message.receivePayload(LONG);
    assertThat(second.scope().isAlive()).isFalse();
    assertThat(message.memory().byteSize()).as("no more than its longest").isEqualTo(LONG + 16L);
    message.close();
    message.close();
    assertThatThrownBy(() -> message.getInt(RegionAccess.OFFSET))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Its calls report that it is closed, though their messages are freed. */
  @Test
  void closedFunctionUsesNoMessageAnyLonger() {
    try (Served served = new Served(directory)) {
      var function = PciFunctions.open(Locator.parse("vfio-user:" + served.path));
      var registers = function.region(0);
      function.close();
      registers.writeInt(0, 1);
      assertThat(registers.readInt(0)).isEqualTo(-1);
      assertThatThrownBy(() -> function.allocate(4096)).isInstanceOf(VfioException.class);
      served.awaitNobody();
      served.device.calls.clear();
    }
  }
}
