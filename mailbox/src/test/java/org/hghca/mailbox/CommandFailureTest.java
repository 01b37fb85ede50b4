package org.hghca.mailbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandFailureTest {
  private static final Duration SHORT = Duration.ofMillis(5);

  private final FakeHcr hcr = new FakeHcr();

  private CommandInterface open() {
    return CommandInterface.open(hcr.function, HardwareProfile.S, SHORT);
  }

  @ParameterizedTest
  @CsvSource({
    "0x02, BAD_OP",
    "0x03, BAD_PARAM",
    "0x04, BAD_SYS_STATE",
    "0x05, BAD_NVMEM",
    "0x05, BAD_RESOURCE",
    "0x0b, BAD_NVMEM",
    "0x07, 0x07",
    "0xff, 0xff",
  })
  void statusOtherThanOkIsNamed(String code, String name) {
    CommandInterface commands = open();
    hcr.status = Integer.decode(code);

    CommandException e = catchThrowableOfType(CommandException.class, () -> commands.hw2swCq(0x1f));

    assertThat(e.statusCode()).isEqualTo(Integer.decode(code));
    assertThat(e.command()).isEqualTo(HcrCommand.HW2SW_CQ);
    assertThat(e.opModifier()).isZero();
    assertThat(e.inModifier()).isEqualTo(0x1f);
    assertThat(e.locator()).hasToString("fake:card");
    assertThat(e)
        .hasMessageContaining("fake:card")
        .hasMessageContaining("HW2SW_CQ")
        .hasMessageContaining("in_modifier 0x1f")
        .hasMessageContaining(code)
        .hasMessageContaining(name);
  }

  @Test
  void cardThatRefusedACommandTakesTheNext() {
    CommandInterface commands = open();
    hcr.status = 3;
    assertThatThrownBy(commands::closeHca).isInstanceOf(CommandException.class);
    hcr.status = 0;

    assertThatCode(commands::closeHca).doesNotThrowAnyException();
  }

  @Test
  void mailboxOfARefusedCommandIsReused() {
    CommandInterface commands = open();
    hcr.status = 3;
    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(commands::queryAdapter).isInstanceOf(CommandException.class);
    }

    assertThat(hcr.function.allocations()).isEqualTo(1);
  }

  @Test
  void commandThatDoesNotEndPutsTheCardInTheErrorState() {
    CommandInterface commands = open();
    hcr.hang = true;

    Throwable first = catchThrowable(() -> commands.hw2swMpt(7));
    hcr.accesses.clear();
    Throwable second = catchThrowable(commands::nop);
    Throwable third = catchThrowable(commands::queryDeviceLimits);

    assertThat(first)
        .isInstanceOf(CommandTimeoutException.class)
        .hasMessageContaining("HW2SW_MPT")
        .hasMessageContaining("fake:card")
        .hasMessageContaining("0x0080000f")
        .hasMessageContaining("PT0.005S");
    assertThat(second).isExactlyInstanceOf(DeviceFatalException.class).cause().isSameAs(first);
    assertThat(third).isExactlyInstanceOf(DeviceFatalException.class).cause().isSameAs(first);
    assertThat(hcr.accesses).isEmpty();
  }

  @Test
  void hcrThatIsNeverFreeGetsNoStore() {
    CommandInterface commands = open();
    hcr.hang = true;
    hcr.setGo(0);
    hcr.accesses.clear();

    assertThatThrownBy(commands::closeHca)
        .isInstanceOf(CommandTimeoutException.class)
        .hasMessageContaining("not free");
    assertThat(hcr.accesses).isNotEmpty().noneMatch(FakeHcr.Access::write);
  }

  @Test
  void lateCompletionDoesNotRecoverTheCard() {
    CommandInterface commands = open();
    hcr.hang = true;
    assertThatThrownBy(commands::closeHca).isInstanceOf(CommandTimeoutException.class);
    hcr.completeLate();
    hcr.accesses.clear();

    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);
    assertThat(hcr.accesses).isEmpty();
  }

  @Test
  void mailboxOfAHungCommandOutlivesTheClose() {
    CommandInterface commands = open();
    hcr.hang = true;
    assertThatThrownBy(commands::queryAdapter).isInstanceOf(CommandTimeoutException.class);
    commands.close();

    // The card writes its outbox now: the memory must still be there.
    hcr.outbox = "ab".repeat(32);
    assertThatCode(hcr::completeLate).doesNotThrowAnyException();

    commands.deviceWasReset();
    assertThat(hcr.function.mappings()).isZero();
  }

  @Test
  void allOnesMeansThatTheCardIsGone() {
    CommandInterface commands = open();
    hcr.gone = true;

    assertThatThrownBy(commands::closeHca)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("all ones")
        .hasMessageContaining("fake:card");
    hcr.gone = false;
    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);
  }

  @Test
  void allOnesWhileWaitingMeansThatTheCardIsGone() {
    CommandInterface commands = open();
    hcr.onCommand = () -> hcr.gone = true;

    assertThatThrownBy(commands::queryAdapter)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("all ones");
    assertThat(hcr.function.mappings()).isEqualTo(1);
  }

  @Test
  void faultOfAMappedRegisterMeansThatTheCardIsGone() {
    CommandInterface commands = open();
    hcr.pulled = true;

    assertThatThrownBy(commands::closeHca)
        .isInstanceOf(DeviceFatalException.class)
        .hasCauseInstanceOf(InternalError.class);
    hcr.pulled = false;
    hcr.accesses.clear();
    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);
    assertThat(hcr.accesses).isEmpty();
  }

  @Test
  void fatalErrorIsReportedOnceToEachListener() {
    CommandInterface commands = open();
    List<Throwable> told = new ArrayList<>();
    commands.onFatal(told::add);
    hcr.hang = true;

    Throwable first = catchThrowable(commands::closeHca);
    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);
    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);

    assertThat(told).containsExactly(first);
  }

  @Test
  void lateListenerIsCalledAtOnce() {
    CommandInterface commands = open();
    hcr.gone = true;
    Throwable first = catchThrowable(commands::closeHca);
    List<Throwable> told = new ArrayList<>();

    commands.onFatal(told::add);

    assertThat(told).containsExactly(first);
  }

  @Test
  void listenerMayUseTheCommandInterface() {
    CommandInterface commands = open();
    List<Throwable> seen = new ArrayList<>();
    commands.onFatal(
        e -> {
          // On another thread, which would wait indefinitely if a lock were held.
          Thread other = Thread.startVirtualThread(() -> seen.add(catchThrowable(commands::nop)));
          try {
            other.join();
          } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
          }
        });
    hcr.gone = true;

    assertThatThrownBy(commands::closeHca).isInstanceOf(DeviceFatalException.class);
    assertThat(seen).hasSize(1).first().isInstanceOf(DeviceFatalException.class);
  }

  @Test
  void listenerThatThrowsDoesNotBlockOthers() {
    CommandInterface commands = open();
    IllegalStateException listeners = new IllegalStateException("listener");
    List<Throwable> told = new ArrayList<>();
    commands.onFatal(
        e -> {
          throw listeners;
        });
    commands.onFatal(told::add);
    hcr.gone = true;

    Throwable thrown = catchThrowable(commands::closeHca);

    assertThat(thrown).isInstanceOf(DeviceFatalException.class).hasSuppressedException(listeners);
    assertThat(told).containsExactly(thrown);
  }

  @Test
  void openRefusesWhereNoCardAnswers() {
    hcr.gone = true;

    assertThatThrownBy(this::open)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("BAR0 + 0x80000 of fake:card")
        .hasMessageContaining("all ones");
    assertThat(hcr.accesses).noneMatch(FakeHcr.Access::write);
  }

  @Test
  void openRefusesABusyHcrWithoutWritingToIt() {
    hcr.hang = true;
    hcr.setGo(0);

    assertThatThrownBy(this::open)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("0x00800000");
    assertThat(hcr.accesses).noneMatch(FakeHcr.Access::write);
  }

  @Test
  void openRefusesARegisterThatKeepsNoToken() {
    hcr.tokenMask = 0;

    assertThatThrownBy(this::open)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("0x5aa50000")
        .hasMessageContaining("reads 0x00000000");
  }

  @Test
  void openRefusesARegisterStuckAtTheFirstToken() {
    hcr.tokenMask = 0x5aa50000;

    assertThatThrownBy(this::open)
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("0xa55a0000");
  }

  @Test
  void openRefusesARegionThatEndsBeforeTheHcr() {
    FakeFunction small = new FakeFunction(0x80000, hcr);

    assertThatThrownBy(() -> CommandInterface.open(small, HardwareProfile.S))
        .isInstanceOf(DeviceFatalException.class)
        .hasMessageContaining("0x80000");
    assertThat(hcr.accesses).isEmpty();
  }
}
