package org.hghca.mailbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.mailbox.FakeHcr.Access;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HcrProtocolTest {
  private final FakeHcr hcr = new FakeHcr();
  private CommandInterface commands;

  @BeforeEach
  void open() {
    commands = CommandInterface.open(hcr.function, HardwareProfile.S);
    hcr.accesses.clear();
  }

  @Test
  void sevenDwordsAreStoredAndGoIsLast() {
    commands.hw2swMpt(0x1234);

    assertThat(hcr.lastStores())
        .containsExactly(
            Access.write(0x00, 0),
            Access.write(0x04, 0),
            Access.write(0x08, 0x1234),
            Access.write(0x0c, 0),
            Access.write(0x10, 0),
            Access.write(0x14, 0xffff0000L),
            Access.write(0x18, 0x0080000f));
    assertThat(hcr.violations).isEmpty();
  }

  @Test
  void inParamGoesHighDwordFirst() {
    commands.unmapIcm(1, 0x0123_4567_89ab_c000L, 3);

    assertThat(hcr.lastStores())
        .startsWith(
            Access.write(0x00, 0x0123_4567L),
            Access.write(0x04, 0x89ab_c000L),
            Access.write(0x08, 3));
  }

  @Test
  void outParamIsTheOutboxAndIsWrittenForEachCommand() {
    commands.queryAdapter();
    commands.queryAdapter();
    commands.closeHca();

    List<Access> outParams =
        hcr.accesses.stream().filter(a -> a.write() && a.offset() == 0x0c).toList();
    assertThat(outParams)
        .containsExactly(Access.write(0x0c, 0x12), Access.write(0x0c, 0x12), Access.write(0x0c, 0));
    assertThat(hcr.issued.get(1).outParam()).isEqualTo(0x12_3456_7000L);
    assertThat(hcr.issued.get(2).outParam()).isZero();
  }

  @Test
  void goMustBeClearBeforeTheFirstStore() {
    hcr.busyPolls = 3;
    hcr.setGo(3);

    commands.closeHca();

    assertThat(hcr.accesses.stream().limit(5).map(Access::write))
        .containsExactly(false, false, false, false, true);
    assertThat(hcr.violations).isEmpty();
  }

  @Test
  void statusComesFromTheReadThatFindsGoClear() {
    hcr.busyPolls = 2;

    commands.closeHca();

    // One read before the stores; then two reads that return go set, and one that does not.
    assertThat(hcr.accesses.stream().filter(a -> !a.write()))
        .hasSize(4)
        .allMatch(a -> a.offset() == 0x18);
    assertThat(hcr.accesses.getLast().write()).isFalse();
  }

  @Test
  void everyAccessIsOfFourBytes() {
    commands.queryAdapter();
    commands.nop();
    commands.unmapIcm(2, 0x1000, 1);

    assertThat(hcr.accesses).isNotEmpty().allMatch(a -> a.width() == 4);
  }

  @Test
  void longCommandIsAwaitedWithPauses() {
    hcr.busyPolls = 140;

    commands.closeHca();

    assertThat(hcr.accesses.stream().filter(a -> !a.write())).hasSize(1 + 141);
  }

  @Test
  void interruptedThreadFinishesItsCommandAndStaysInterrupted() {
    hcr.busyPolls = 140;
    Thread.currentThread().interrupt();

    commands.closeHca();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(hcr.issued).hasSize(1);
  }

  @Test
  void interruptDuringTheWaitIsKept() {
    hcr.busyPolls = 140;
    Thread caller = Thread.currentThread();
    hcr.onCommand = caller::interrupt;

    commands.closeHca();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(hcr.accesses.getLast()).isEqualTo(new Access(false, 0x18, 4, 0));
  }

  @Test
  void interruptDoesNotAffectTheNextCommand() {
    hcr.busyPolls = 140;
    Thread.currentThread().interrupt();
    commands.closeHca();
    assertThat(Thread.interrupted()).isTrue();

    commands.closeHca();

    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void interruptedThreadPausesToo() {
    CommandInterface impatient =
        CommandInterface.open(hcr.function, HardwareProfile.S, Duration.ofMillis(50));
    hcr.hang = true;
    hcr.accesses.clear();
    Thread.currentThread().interrupt();

    assertThatThrownBy(impatient::closeHca).isInstanceOf(CommandTimeoutException.class);

    assertThat(Thread.interrupted()).isTrue();
    // 100 reads without a pause, then one per pause; the pauses grow to half a millisecond.
    assertThat(hcr.accesses).hasSizeLessThan(1000);
  }

  @Test
  void reusedMailboxIsZeroed() {
    hcr.outbox = "ff".repeat(64);
    commands.queryDeviceLimits();
    hcr.outbox = "";

    assertThat(commands.queryAdapter().boardId()).isZero();
  }

  @Test
  void mailboxesAreReused() {
    for (int i = 0; i < 100; i++) {
      commands.queryAdapter();
    }

    assertThat(hcr.function.allocations()).isEqualTo(1);
  }

  @Test
  void closeFreesMailboxesAndRefusesCommands() {
    commands.queryAdapter();
    assertThat(hcr.function.mappings()).isEqualTo(1);

    commands.close();
    commands.close();

    assertThat(hcr.function.mappings()).isZero();
    hcr.accesses.clear();
    assertThatThrownBy(commands::closeHca)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("fake:card is closed");
    assertThat(hcr.accesses).isEmpty();
  }
}
