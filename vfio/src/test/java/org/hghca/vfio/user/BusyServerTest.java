package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that comes while another one has the device learns that at once, and from whom. */
class BusyServerTest {
  private static final String KNOWS = "{\"capabilities\":{\"hghca_busy\":true}}";

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

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void nextClientIsToldByWhomWithinASecond() {
    try (RawClient first = RawClient.greeted(served.path)) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> PciFunctions.open(Locator.parse("vfio-user:" + served.path)))
          .isInstanceOfSatisfying(
              VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BUSY))
          .hasMessageContaining(
              "is busy, by PID %d: end that process".formatted(ProcessHandle.current().pid()));
      assertThat(since(start)).isLessThan(Duration.ofSeconds(1));
      assertThat(first.read(7, 0, 4)).as("the first is not disturbed").isZero();
    }
    served.awaitNobody();
    try (PciFunction next = PciFunctions.open(Locator.parse("vfio-user:" + served.path))) {
      assertThat(next.locator()).isNotNull();
    }
  }

  /** As QEMU: what it does not know it does not get. */
  @Test
  void foreignClientGetsTheErrorAlone() {
    try (RawClient first = RawClient.greeted(served.path);
        RawClient foreign = RawClient.connect(served.path)) {
      assertThat(foreign.greet("{}")).isEqualTo(LinuxErrno.EBUSY.number());
      assertThat(foreign.in.payloadBytes()).isZero();
      assertThat(foreign.channel.receive(foreign.in)).as("the server hangs up").isFalse();
      assertThat(first.read(7, 0, 4)).isZero();
    }
  }

  @Test
  void manyClientsAreToldAtTheSameTime() {
    List<RawClient> others = new ArrayList<>();
    try (RawClient first = RawClient.greeted(served.path)) {
      for (int i = 0; i < 8; i++) {
        others.add(RawClient.connect(served.path));
      }
      long start = System.nanoTime();
      for (RawClient other : others) {
        other.begin(UserCommand.VERSION, 4 + KNOWS.length() + 1);
        for (int i = 0; i < KNOWS.length(); i++) {
          other.out.putByte(4 + i, KNOWS.charAt(i));
        }
        other.channel.send(other.out);
      }
      for (RawClient other : others) {
        assertThat(other.channel.receive(other.in)).isTrue();
        assertThat(other.in.error()).isEqualTo(LinuxErrno.EBUSY.number());
        assertThat(other.in.getInt(0)).isEqualTo((int) ProcessHandle.current().pid());
      }
      assertThat(since(start)).isLessThan(Duration.ofSeconds(1));
      assertThat(first.read(7, 0, 4)).isZero();
    } finally {
      others.forEach(RawClient::close);
    }
  }

  /** A program that is started again opens the device while the server removes what it had. */
  @Test
  void clientThatLeavesSoonIsFollowedByTheNext() {
    RawClient first = RawClient.greeted(served.path);
    try (RawClient next = RawClient.connect(served.path)) {
      first.close();
      assertThat(next.greet("{}")).isZero();
      assertThat(next.read(7, 0, 4)).isZero();
    }
  }

  @Test
  void silentClientKeepsOthersOutForTwoSecondsAtMost() {
    int silent = UserSocket.connect(Linux.system(), served.path);
    Served.await(served.server::isConnected);
    long start = System.nanoTime();
    try (RawClient next = RawClient.greeted(served.path)) {
      assertThat(since(start)).isLessThan(UserTimeouts.HANDSHAKE.plusMillis(900));
      assertThat(next.read(7, 0, 4)).isZero();
    }
    Linux.system().close(silent);
  }

  @Test
  void waitingClientsAreHungUpOnAtTheEnd() {
    RawClient first = RawClient.greeted(served.path);
    try (RawClient next = RawClient.connect(served.path)) {
      served.server.close();
      assertThat(next.channel.receive(next.in)).isFalse();
    }
    first.close();
  }
}
