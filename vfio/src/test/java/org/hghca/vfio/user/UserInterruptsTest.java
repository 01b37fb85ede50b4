package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserStructures.IrqInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server gets eventfds, and its signals arrive. */
final class UserInterruptsTest extends WithFakeServer {
  private static final long LONG = TimeUnit.SECONDS.toNanos(30);

  private Interrupts open() {
    open("");
    server.newCalls();
    return function.interrupts();
  }

  private List<String> settings() {
    return server.newCalls().stream().filter(call -> call.startsWith("DEVICE_SET_IRQS")).toList();
  }

  private void has(int index, int flags, int count) {
    server.interrupts.put(index, new int[] {flags, count});
  }

  @Test
  void eachVectorHasItsEvent() {
    Interrupts interrupts = open();
    assertThat(interrupts.vectors()).isEqualTo(4);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 2 flags 0x24 0+4 with 4");
    assertThat(interrupts.await(0)).isZero();
    for (int vector = 0; vector < 4; vector++) {
      server.raise(vector);
      assertThat(interrupts.await(LONG)).isEqualTo(1L << vector);
    }
    server.raise(0);
    server.raise(3);
    assertThat(interrupts.await(LONG)).isEqualTo(0b1001);
    assertThat(interrupts.await(0)).isZero();
    interrupts.wake();
    assertThat(interrupts.await(LONG)).isZero();
    assertThat(function.interrupts()).isSameAs(interrupts);
    assertThat(settings()).isEmpty();
  }

  @Test
  void messageCarriesNoMoreDescriptorsThanTheServerTakes() {
    server.version = "{ \"capabilities\" : { \"max_msg_fds\" : 3 } }";
    Interrupts interrupts = open();
    assertThat(interrupts.vectors()).isEqualTo(4);
    assertThat(settings())
        .containsExactly(
            "DEVICE_SET_IRQS 2 flags 0x24 0+3 with 3", "DEVICE_SET_IRQS 2 flags 0x24 3+1 with 1");
    server.raise(3);
    assertThat(interrupts.await(LONG)).isEqualTo(0b1000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"capabilities\":{}}", "{\"capabilities\":{\"max_msg_fds\":0}}"})
  void serverWithoutALimitOfDescriptorsGetsOne(String version) {
    server.version = version;
    assertThat(open().vectors()).isEqualTo(4);
    assertThat(settings()).hasSize(4).allMatch(call -> call.endsWith("+1 with 1"));
  }

  @Test
  void vectorsThatMustBeSetAtOnceAreLimitedToOneMessage() {
    server.version = "{\"capabilities\":{\"max_msg_fds\":3}}";
    has(IrqInfo.MSIX, IrqInfo.FLAG_EVENTFD | IrqInfo.FLAG_NORESIZE, 4);
    assertThat(open().vectors()).isEqualTo(3);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 2 flags 0x24 0+3 with 3");
  }

  @Test
  void moreThan64VectorsAreNotUsed() {
    server.version = "{\"capabilities\":{\"max_msg_fds\":253}}";
    has(IrqInfo.MSIX, IrqInfo.FLAG_EVENTFD, 2048);
    Interrupts interrupts = open();
    assertThat(interrupts.vectors()).isEqualTo(64);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 2 flags 0x24 0+64 with 64");
    server.raise(63);
    assertThat(interrupts.await(LONG)).isEqualTo(1L << 63);
  }

  @Test
  void msiIsUsedWhereThereIsNoMsix() {
    has(IrqInfo.MSIX, IrqInfo.FLAG_EVENTFD, 0);
    has(IrqInfo.MSI, IrqInfo.FLAG_EVENTFD | IrqInfo.FLAG_NORESIZE, 8);
    assertThat(open().vectors()).isEqualTo(8);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 1 flags 0x24 0+8 with 8");
  }

  @Test
  void pinIsUnmaskedAfterEachInterrupt() {
    server.interrupts.clear();
    has(IrqInfo.INTX, IrqInfo.FLAG_EVENTFD | IrqInfo.FLAG_MASKABLE | IrqInfo.FLAG_AUTOMASKED, 1);
    Interrupts interrupts = open();
    assertThat(interrupts.vectors()).isEqualTo(1);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 0 flags 0x24 0+1 with 1");
    server.raise(0);
    assertThat(interrupts.await(LONG)).isEqualTo(1);
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 0 flags 0x11 0+1");
    assertThat(interrupts.await(0)).isZero();
    assertThat(settings()).isEmpty();
  }

  @Test
  void interruptsWithoutEventsAreNotUsed() {
    has(IrqInfo.MSIX, 0, 4);
    Interrupts interrupts = open();
    assertThat(interrupts.vectors()).isZero();
    assertThat(settings()).isEmpty();
    interrupts.wake();
    assertThat(interrupts.await(LONG)).isZero();
  }

  /** A status with capabilities, a first capability at 40h, MSI-X at 70h. */
  private void capabilities() {
    server.configuration[0x06] = 0x10;
    server.configuration[0x34] = 0x40;
    server.configuration[0x40] = 0x10;
    server.configuration[0x41] = 0x70;
    server.configuration[0x70] = 0x11;
    server.configuration[0x72] = 0x03;
  }

  @Test
  void messageInterruptsAreEnabledInConfigurationSpace() {
    capabilities();
    open();
    assertThat(server.configuration[0x73]).isEqualTo((byte) 0x80);
    assertThat(server.configuration[0x72]).isEqualTo((byte) 0x03);
  }

  @Test
  void cyclicCapabilityListEnds() {
    capabilities();
    server.configuration[0x41] = 0x40;
    assertThat(open().vectors()).isEqualTo(4);
  }

  @Test
  void interruptsAreSetUpAgainAfterAReset() {
    capabilities();
    Interrupts interrupts = open();
    server.newCalls();
    server.configuration[0x73] = 0;
    function.reset();
    assertThat(settings()).containsExactly("DEVICE_SET_IRQS 2 flags 0x24 0+4 with 4");
    assertThat(server.configuration[0x73]).isEqualTo((byte) 0x80);
    server.raise(2);
    assertThat(interrupts.await(LONG)).isEqualTo(0b100);
  }

  @Test
  void serverThatRefusesTheEventsIsReported() {
    server.answers.put(UserCommand.DEVICE_SET_IRQS, FakeServer.refuse(22));
    assertReason(Reason.INVALID, this::open).hasMessageContaining("refused DEVICE_SET_IRQS");
  }

  @Test
  void closingTheFunctionEndsAWait() throws Exception {
    Interrupts interrupts = open();
    FutureTask<Void> wait =
        new FutureTask<>(() -> assertReason(Reason.CLOSED, () -> interrupts.await(LONG)), null);
    Thread waiting = Thread.ofPlatform().start(wait);
    while (Arrays.stream(waiting.getStackTrace())
        .noneMatch(frame -> frame.getMethodName().equals("await"))) {
      Thread.onSpinWait();
    }
    function.close();
    wait.get();
    assertReason(Reason.CLOSED, () -> interrupts.await(0));
    interrupts.wake();
  }
}
